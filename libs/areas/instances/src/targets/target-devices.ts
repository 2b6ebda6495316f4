import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { In } from 'typeorm';
import { problemOf } from '../devices/device-assignments.js';
import { TargetDeviceCheckEntity } from '../devices/device.entity.js';
import { READ_DEVICE_CLAIMS, READ_DEVICES, type DeviceClaimRow, type DeviceRow } from '../devices/device.query.js';
import type { TargetDto } from './target.dto.js';

type HostView = Pick<TargetDto, 'devices' | 'conditions'>;

/**
 * Reads the accelerators of the targets' hosts and their holders. The operator's tenant sees all holders, another
 * tenant only its own.
 */
@Injectable()
export class TargetDevices {
  constructor(private readonly database: Database) {}

  hosts(
    targets: string[],
    { tenantId, isOperatorTenant }: Pick<Principal, 'tenantId' | 'isOperatorTenant'>,
  ): Promise<{ of(target: string): HostView }> {
    return this.database.tx('system', async (tx) => {
      const devices = await tx.query<DeviceRow & { target: string }>(READ_DEVICES, [targets]);
      const claims = devices.length === 0 ? [] : await tx.query<DeviceClaimRow>(READ_DEVICE_CLAIMS, [targets]);
      const looks = await tx.repository(TargetDeviceCheckEntity).findBy({ target: In(targets) });
      const mayName = (claim: DeviceClaimRow) => isOperatorTenant || claim.tenant_id === tenantId;
      return {
        of: (target) => ({
          devices: devices
            .filter((device) => device.target === target)
            .map((device) => deviceDtoOf(device, claims, mayName)),
          conditions: looks
            .filter((look) => look.target === target && look.problem !== null)
            // The problem names programs of the host and their files.
            .map(({ problem }) => ({
              type: 'devices_unknown' as const,
              message: isOperatorTenant ? (problem ?? '') : 'the devices of its host could not be checked',
            })),
        }),
      };
    });
  }
}

function deviceDtoOf(
  device: DeviceRow,
  claims: readonly DeviceClaimRow[],
  mayName: (claim: DeviceClaimRow) => boolean,
): TargetDto['devices'][number] {
  const { uuid, device_index, name, memory_mb, used_mb, foreign_mb } = device;
  return {
    index: device_index,
    uuid,
    name,
    memory_mb,
    used_mb,
    foreign_mb,
    problem: problemOf(device) ?? null,
    holders: claims
      .filter((claim) => claim.device_uuid === uuid)
      .map((claim) => ({
        revision: mayName(claim) ? claim.revision_name : null,
        memory_mb: claim.memory_mb,
        ending: claim.has_ended,
      })),
  };
}
