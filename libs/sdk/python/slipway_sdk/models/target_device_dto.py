from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.target_device_holder_dto import TargetDeviceHolderDto


T = TypeVar("T", bound="TargetDeviceDto")


@_attrs_define
class TargetDeviceDto:
    """
    Attributes:
        foreign_mb (int): MiB of it that programs hold which Slipway has not started
        holders (list[TargetDeviceHolderDto]): Who has it; empty = it is free
        index (int): By PCI bus; may change at a reboot
        memory_mb (int | None): MiB; null where the host does not tell
        name (str):  Example: NVIDIA L4.
        problem (None | str): Why nothing is started on it: its driver lost it, or the memory of its last holder has not
            come back
        used_mb (int | None): MiB in use when it was looked at last
        uuid (str): Stable over reboots Example: GPU-5c89852c-1d5c-4d26-a2f1-2a3f9a5d8f4e.
    """

    foreign_mb: int
    holders: list[TargetDeviceHolderDto]
    index: int
    memory_mb: int | None
    name: str
    problem: None | str
    used_mb: int | None
    uuid: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        foreign_mb = self.foreign_mb

        holders = []
        for holders_item_data in self.holders:
            holders_item = holders_item_data.to_dict()
            holders.append(holders_item)

        index = self.index

        memory_mb: int | None
        memory_mb = self.memory_mb

        name = self.name

        problem: None | str
        problem = self.problem

        used_mb: int | None
        used_mb = self.used_mb

        uuid = self.uuid

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "foreign_mb": foreign_mb,
                "holders": holders,
                "index": index,
                "memory_mb": memory_mb,
                "name": name,
                "problem": problem,
                "used_mb": used_mb,
                "uuid": uuid,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.target_device_holder_dto import TargetDeviceHolderDto

        d = dict(src_dict)
        foreign_mb = d.pop("foreign_mb")

        holders = []
        _holders = d.pop("holders")
        for holders_item_data in _holders:
            holders_item = TargetDeviceHolderDto.from_dict(holders_item_data)

            holders.append(holders_item)

        index = d.pop("index")

        def _parse_memory_mb(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        memory_mb = _parse_memory_mb(d.pop("memory_mb"))

        name = d.pop("name")

        def _parse_problem(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        problem = _parse_problem(d.pop("problem"))

        def _parse_used_mb(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        used_mb = _parse_used_mb(d.pop("used_mb"))

        uuid = d.pop("uuid")

        target_device_dto = cls(
            foreign_mb=foreign_mb,
            holders=holders,
            index=index,
            memory_mb=memory_mb,
            name=name,
            problem=problem,
            used_mb=used_mb,
            uuid=uuid,
        )

        target_device_dto.additional_properties = d
        return target_device_dto

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
