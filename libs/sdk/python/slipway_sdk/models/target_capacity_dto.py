from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TargetCapacityDto")


@_attrs_define
class TargetCapacityDto:
    """
    Attributes:
        in_use (int): Instances that are wanted on it now, over all tenants
        max_instances (int | None): Instances it runs at most; null = no limit
    """

    in_use: int
    max_instances: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        in_use = self.in_use

        max_instances: int | None
        max_instances = self.max_instances

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "in_use": in_use,
                "max_instances": max_instances,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        in_use = d.pop("in_use")

        def _parse_max_instances(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_instances = _parse_max_instances(d.pop("max_instances"))

        target_capacity_dto = cls(
            in_use=in_use,
            max_instances=max_instances,
        )

        target_capacity_dto.additional_properties = d
        return target_capacity_dto

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
