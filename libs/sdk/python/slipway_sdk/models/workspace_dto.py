from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkspaceDto")


@_attrs_define
class WorkspaceDto:
    """
    Attributes:
        bytes_limit (int):
        bytes_used (int):
        file_count (int):
    """

    bytes_limit: int
    bytes_used: int
    file_count: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bytes_limit = self.bytes_limit

        bytes_used = self.bytes_used

        file_count = self.file_count

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bytes_limit": bytes_limit,
                "bytes_used": bytes_used,
                "file_count": file_count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        bytes_limit = d.pop("bytes_limit")

        bytes_used = d.pop("bytes_used")

        file_count = d.pop("file_count")

        workspace_dto = cls(
            bytes_limit=bytes_limit,
            bytes_used=bytes_used,
            file_count=file_count,
        )

        workspace_dto.additional_properties = d
        return workspace_dto

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
