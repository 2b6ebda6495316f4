from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TargetDeviceHolderDto")


@_attrs_define
class TargetDeviceHolderDto:
    """
    Attributes:
        ending (bool): Whether it is over, and only its memory has not been seen to be back
        memory_mb (int | None): MiB that it takes beside others; null = all of the device
        revision (None | str): Revision that it runs for; null for one of another tenant Example: chat-00003.
    """

    ending: bool
    memory_mb: int | None
    revision: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ending = self.ending

        memory_mb: int | None
        memory_mb = self.memory_mb

        revision: None | str
        revision = self.revision

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ending": ending,
                "memory_mb": memory_mb,
                "revision": revision,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        ending = d.pop("ending")

        def _parse_memory_mb(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        memory_mb = _parse_memory_mb(d.pop("memory_mb"))

        def _parse_revision(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        revision = _parse_revision(d.pop("revision"))

        target_device_holder_dto = cls(
            ending=ending,
            memory_mb=memory_mb,
            revision=revision,
        )

        target_device_holder_dto.additional_properties = d
        return target_device_holder_dto

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
