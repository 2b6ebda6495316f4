from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ResourcesSpecDto")


@_attrs_define
class ResourcesSpecDto:
    """
    Attributes:
        accelerator (str | Unset):  Example: nvidia-l4.
        count (int | Unset):
        memory_mb (int | Unset):
    """

    accelerator: str | Unset = UNSET
    count: int | Unset = UNSET
    memory_mb: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        accelerator = self.accelerator

        count = self.count

        memory_mb = self.memory_mb

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if accelerator is not UNSET:
            field_dict["accelerator"] = accelerator
        if count is not UNSET:
            field_dict["count"] = count
        if memory_mb is not UNSET:
            field_dict["memory_mb"] = memory_mb

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        accelerator = d.pop("accelerator", UNSET)

        count = d.pop("count", UNSET)

        memory_mb = d.pop("memory_mb", UNSET)

        resources_spec_dto = cls(
            accelerator=accelerator,
            count=count,
            memory_mb=memory_mb,
        )

        resources_spec_dto.additional_properties = d
        return resources_spec_dto

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
