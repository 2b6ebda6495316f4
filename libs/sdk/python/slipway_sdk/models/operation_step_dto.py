from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.operation_step_dto_evidence_type_0 import OperationStepDtoEvidenceType0


T = TypeVar("T", bound="OperationStepDto")


@_attrs_define
class OperationStepDto:
    """
    Attributes:
        completed_at (datetime.datetime | None):
        evidence (None | OperationStepDtoEvidenceType0): What the step observed
        index (int):
        message (str):
        name (str): Stable name, such as `await_ready` or `soak:2`
        started_at (datetime.datetime | None):
        status (str): One of `pending`, `running`, `waiting`, `succeeded`, `failed`, `skipped`, `cancelled`, `undone`.
    """

    completed_at: datetime.datetime | None
    evidence: None | OperationStepDtoEvidenceType0
    index: int
    message: str
    name: str
    started_at: datetime.datetime | None
    status: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.operation_step_dto_evidence_type_0 import OperationStepDtoEvidenceType0

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        evidence: dict[str, Any] | None
        if isinstance(self.evidence, OperationStepDtoEvidenceType0):
            evidence = self.evidence.to_dict()
        else:
            evidence = self.evidence

        index = self.index

        message = self.message

        name = self.name

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        status = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "completed_at": completed_at,
                "evidence": evidence,
                "index": index,
                "message": message,
                "name": name,
                "started_at": started_at,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.operation_step_dto_evidence_type_0 import OperationStepDtoEvidenceType0

        d = dict(src_dict)

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

        def _parse_evidence(data: object) -> None | OperationStepDtoEvidenceType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                evidence_type_0 = OperationStepDtoEvidenceType0.from_dict(data)

                return evidence_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OperationStepDtoEvidenceType0, data)

        evidence = _parse_evidence(d.pop("evidence"))

        index = d.pop("index")

        message = d.pop("message")

        name = d.pop("name")

        def _parse_started_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                started_at_type_0 = datetime.datetime.fromisoformat(data)

                return started_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        started_at = _parse_started_at(d.pop("started_at"))

        status = d.pop("status")

        operation_step_dto = cls(
            completed_at=completed_at,
            evidence=evidence,
            index=index,
            message=message,
            name=name,
            started_at=started_at,
            status=status,
        )

        operation_step_dto.additional_properties = d
        return operation_step_dto

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
