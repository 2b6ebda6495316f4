import { OPERATION_STATUSES } from '@slipway/contracts';
import { ArrayField, StringField } from '@slipway/platform-http';
import { OperationDto } from '@slipway/platform-operations';

export class OperationFilterDto {
  @StringField({ enum: OPERATION_STATUSES, optional: true })
  status?: string;

  @StringField({ min: 1, max: 100, optional: true, example: 'rollout' })
  kind?: string;

  @StringField({ min: 1, max: 255, optional: true, example: 'chat' })
  resource_name?: string;
}

export class OperationPageDto {
  @ArrayField(() => OperationDto)
  data: OperationDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
