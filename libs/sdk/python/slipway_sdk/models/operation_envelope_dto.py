from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.operation_dto import OperationDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="OperationEnvelopeDto")


@_attrs_define
class OperationEnvelopeDto:
    """
    Attributes:
        created (bool): false = an earlier operation was adopted by its Idempotency-Key
        operation (OperationDto):
        warnings (list[WarningDto] | Unset):
    """

    created: bool
    operation: OperationDto
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created = self.created

        operation = self.operation.to_dict()

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
                "created": created,
                "operation": operation,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.operation_dto import OperationDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        created = d.pop("created")

        operation = OperationDto.from_dict(d.pop("operation"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        operation_envelope_dto = cls(
            created=created,
            operation=operation,
            warnings=warnings,
        )

        operation_envelope_dto.additional_properties = d
        return operation_envelope_dto

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
