import { OPERATION_KINDS, OPERATION_STATUSES, WAITING_FOR } from '@slipway/contracts';
import { ArrayField, StringField } from '@slipway/platform-http';
import { OperationDto } from '@slipway/platform-durable/operations';

export class OperationFilterDto {
  @StringField({ enum: OPERATION_STATUSES, optional: true, description: 'Only operations with this status' })
  status?: string;

  @StringField({ enum: WAITING_FOR, optional: true, description: 'Only operations that wait for this' })
  waiting_for?: string;

  @StringField({ enum: OPERATION_KINDS, optional: true, description: 'Only operations of this kind' })
  kind?: string;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Only operations on the resource with this name, such as `chat`',
  })
  resource_name?: string;
}

export class CancelOperationDto {
  @StringField({
    max: 2000,
    optional: true,
    description: 'Reason for the cancellation. The operation and its event show it.',
  })
  reason?: string;
}

export class PauseOperationDto {
  @StringField({ max: 2000, optional: true, description: 'Reason for the pause. The operation and its event show it.' })
  reason?: string;
}

export class ResumeOperationDto {
  @StringField({ max: 2000, optional: true, description: 'Reason to continue. The event shows it.' })
  reason?: string;
}

export class PromoteOperationDto {
  @StringField({
    enum: ['next', 'full'],
    default: 'next',
    description: '`next` ends the running step as passed; `full` passes all steps and moves all traffic',
  })
  to: 'next' | 'full';

  @StringField({
    max: 2000,
    optional: true,
    description: 'Reason for the promotion. The operation and its event show it.',
  })
  reason?: string;
}

export class OperationPageDto {
  @ArrayField(() => OperationDto)
  data: OperationDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
