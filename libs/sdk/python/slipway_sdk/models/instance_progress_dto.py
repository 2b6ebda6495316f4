from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="InstanceProgressDto")


@_attrs_define
class InstanceProgressDto:
    """
    Attributes:
        bytes_ (int | None):
        phase (str): One of `downloading`, `loading`.
        total_bytes (int | None):
    """

    bytes_: int | None
    phase: str
    total_bytes: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bytes_: int | None
        bytes_ = self.bytes_

        phase = self.phase

        total_bytes: int | None
        total_bytes = self.total_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bytes": bytes_,
                "phase": phase,
                "total_bytes": total_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_bytes_(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        bytes_ = _parse_bytes_(d.pop("bytes"))

        phase = d.pop("phase")

        def _parse_total_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        total_bytes = _parse_total_bytes(d.pop("total_bytes"))

        instance_progress_dto = cls(
            bytes_=bytes_,
            phase=phase,
            total_bytes=total_bytes,
        )

        instance_progress_dto.additional_properties = d
        return instance_progress_dto

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
