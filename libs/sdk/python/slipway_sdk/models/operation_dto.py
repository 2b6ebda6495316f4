from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.actor_dto import ActorDto
    from ..models.operation_dto_result import OperationDtoResult
    from ..models.operation_step_dto import OperationStepDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="OperationDto")


@_attrs_define
class OperationDto:
    """
    Attributes:
        attempt (int): Tries of the current step; 0 = never picked up
        awaiting (None | str): What a person is waited for: resume lets it go on. Null: nobody is. One of `approval`,
            `pause`, `null`.
        cancel_reason (None | str): Why, in the words of who asked for the cancel
        cancel_requested (bool):
        completed_at (datetime.datetime | None):
        created_at (datetime.datetime):
        current_step (str):
        current_step_status (str): One of `pending`, `running`, `waiting`, `succeeded`, `failed`, `skipped`,
            `cancelled`, `undone`.
        id (str):  Example: op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5.
        idempotency_key (None | str): The Idempotency-Key of the request that made it
        kind (str):  Example: rollout.
        max_attempts (int):
        message (str):
        progress (int): Percent; never falls until a retry
        reason (None | str):
        request_id (None | str): The X-Request-Id of that request, which log lines and the audit name too
        requested_by (ActorDto):
        resource_name (str):
        resource_type (str):  Example: deployment.
        result (OperationDtoResult):
        resume_at (datetime.datetime | None): When it goes on by itself: the end of a soak, the next look, or the next
            try. Null while it runs, and once it has ended
        retryable (bool):
        status (str): One of `pending`, `running`, `waiting`, `cancelling`, `succeeded`, `failed`, `cancelled`.
        steps (list[OperationStepDto]):
        superseded_by (None | str): The operation that ended this one in its favour
        updated_at (datetime.datetime):
        error_code (str | Unset): Present only when it failed or was cancelled. One of `analysis_failed`,
            `analysis_inconclusive`, `analysis_not_comparable`, `attempts_exhausted`, `cancelled_by_user`,
            `capacity_exhausted`, `dependency_outage`, `health_regression`, `internal`, `metrics_unavailable`,
            `quota_exceeded`, `superseded`, `target_not_ready`, `validation_failed`.
        warnings (list[WarningDto] | Unset):
    """

    attempt: int
    awaiting: None | str
    cancel_reason: None | str
    cancel_requested: bool
    completed_at: datetime.datetime | None
    created_at: datetime.datetime
    current_step: str
    current_step_status: str
    id: str
    idempotency_key: None | str
    kind: str
    max_attempts: int
    message: str
    progress: int
    reason: None | str
    request_id: None | str
    requested_by: ActorDto
    resource_name: str
    resource_type: str
    result: OperationDtoResult
    resume_at: datetime.datetime | None
    retryable: bool
    status: str
    steps: list[OperationStepDto]
    superseded_by: None | str
    updated_at: datetime.datetime
    error_code: str | Unset = UNSET
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempt = self.attempt

        awaiting: None | str
        awaiting = self.awaiting

        cancel_reason: None | str
        cancel_reason = self.cancel_reason

        cancel_requested = self.cancel_requested

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        created_at = self.created_at.isoformat()

        current_step = self.current_step

        current_step_status = self.current_step_status

        id = self.id

        idempotency_key: None | str
        idempotency_key = self.idempotency_key

        kind = self.kind

        max_attempts = self.max_attempts

        message = self.message

        progress = self.progress

        reason: None | str
        reason = self.reason

        request_id: None | str
        request_id = self.request_id

        requested_by = self.requested_by.to_dict()

        resource_name = self.resource_name

        resource_type = self.resource_type

        result = self.result.to_dict()

        resume_at: None | str
        if isinstance(self.resume_at, datetime.datetime):
            resume_at = self.resume_at.isoformat()
        else:
            resume_at = self.resume_at

        retryable = self.retryable

        status = self.status

        steps = []
        for steps_item_data in self.steps:
            steps_item = steps_item_data.to_dict()
            steps.append(steps_item)

        superseded_by: None | str
        superseded_by = self.superseded_by

        updated_at = self.updated_at.isoformat()

        error_code = self.error_code

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "awaiting": awaiting,
                "cancel_reason": cancel_reason,
                "cancel_requested": cancel_requested,
                "completed_at": completed_at,
                "created_at": created_at,
                "current_step": current_step,
                "current_step_status": current_step_status,
                "id": id,
                "idempotency_key": idempotency_key,
                "kind": kind,
                "max_attempts": max_attempts,
                "message": message,
                "progress": progress,
                "reason": reason,
                "request_id": request_id,
                "requested_by": requested_by,
                "resource_name": resource_name,
                "resource_type": resource_type,
                "result": result,
                "resume_at": resume_at,
                "retryable": retryable,
                "status": status,
                "steps": steps,
                "superseded_by": superseded_by,
                "updated_at": updated_at,
            }
        )
        if error_code is not UNSET:
            field_dict["error_code"] = error_code
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.actor_dto import ActorDto
        from ..models.operation_dto_result import OperationDtoResult
        from ..models.operation_step_dto import OperationStepDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        attempt = d.pop("attempt")

        def _parse_awaiting(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        awaiting = _parse_awaiting(d.pop("awaiting"))

        def _parse_cancel_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        cancel_reason = _parse_cancel_reason(d.pop("cancel_reason"))

        cancel_requested = d.pop("cancel_requested")

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        current_step = d.pop("current_step")

        current_step_status = d.pop("current_step_status")

        id = d.pop("id")

        def _parse_idempotency_key(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        idempotency_key = _parse_idempotency_key(d.pop("idempotency_key"))

        kind = d.pop("kind")

        max_attempts = d.pop("max_attempts")

        message = d.pop("message")

        progress = d.pop("progress")

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id"))

        requested_by = ActorDto.from_dict(d.pop("requested_by"))

        resource_name = d.pop("resource_name")

        resource_type = d.pop("resource_type")

        result = OperationDtoResult.from_dict(d.pop("result"))

        def _parse_resume_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                resume_at_type_0 = datetime.datetime.fromisoformat(data)

                return resume_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        resume_at = _parse_resume_at(d.pop("resume_at"))

        retryable = d.pop("retryable")

        status = d.pop("status")

        steps = []
        _steps = d.pop("steps")
        for steps_item_data in _steps:
            steps_item = OperationStepDto.from_dict(steps_item_data)

            steps.append(steps_item)

        def _parse_superseded_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        superseded_by = _parse_superseded_by(d.pop("superseded_by"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        error_code = d.pop("error_code", UNSET)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        operation_dto = cls(
            attempt=attempt,
            awaiting=awaiting,
            cancel_reason=cancel_reason,
            cancel_requested=cancel_requested,
            completed_at=completed_at,
            created_at=created_at,
            current_step=current_step,
            current_step_status=current_step_status,
            id=id,
            idempotency_key=idempotency_key,
            kind=kind,
            max_attempts=max_attempts,
            message=message,
            progress=progress,
            reason=reason,
            request_id=request_id,
            requested_by=requested_by,
            resource_name=resource_name,
            resource_type=resource_type,
            result=result,
            resume_at=resume_at,
            retryable=retryable,
            status=status,
            steps=steps,
            superseded_by=superseded_by,
            updated_at=updated_at,
            error_code=error_code,
            warnings=warnings,
        )

        operation_dto.additional_properties = d
        return operation_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
