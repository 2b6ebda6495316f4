from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.error_body_dto import ErrorBodyDto


T = TypeVar("T", bound="ErrorEnvelopeDto")


@_attrs_define
class ErrorEnvelopeDto:
    """
    Attributes:
        error (ErrorBodyDto):
    """

    error: ErrorBodyDto
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        error = self.error.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "error": error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.error_body_dto import ErrorBodyDto

        d = dict(src_dict)
        error = ErrorBodyDto.from_dict(d.pop("error"))

        error_envelope_dto = cls(
            error=error,
        )

        error_envelope_dto.additional_properties = d
        return error_envelope_dto

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
