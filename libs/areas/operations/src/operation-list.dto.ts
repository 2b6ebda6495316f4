import { OPERATION_STATUSES } from '@slipway/contracts';
import { ArrayField, StringField } from '@slipway/platform-http';
import { OperationDto } from '@slipway/platform-durable/operations';

export class OperationFilterDto {
  @StringField({ enum: OPERATION_STATUSES, optional: true, description: 'Only operations in this status' })
  status?: string;

  @StringField({ min: 1, max: 100, optional: true, description: 'Only this kind, such as `rollout`' })
  kind?: string;

  @StringField({ min: 1, max: 255, optional: true, description: 'Only on what has this name, such as `chat`' })
  resource_name?: string;
}

export class CancelOperationDto {
  @StringField({ max: 2000, optional: true, description: 'Why; it stands in the record and in the event' })
  reason?: string;
}

export class OperationPageDto {
  @ArrayField(() => OperationDto)
  data: OperationDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
