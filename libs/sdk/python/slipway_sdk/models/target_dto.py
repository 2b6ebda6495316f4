from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.target_capacity_dto import TargetCapacityDto
    from ..models.target_condition_dto import TargetConditionDto
    from ..models.target_device_dto import TargetDeviceDto
    from ..models.target_engine_dto import TargetEngineDto


T = TypeVar("T", bound="TargetDto")


@_attrs_define
class TargetDto:
    """
    Attributes:
        capacity (TargetCapacityDto):
        conditions (list[TargetConditionDto]): Empty while nothing is wrong
        devices (list[TargetDeviceDto]): Accelerators of its host, as the worker saw them last
        engines (list[TargetEngineDto]): Empty for targets that adopt what already runs
        kind (str): `process` starts engines on its host, `kubernetes` in a cluster, `endpoint` adopts servers that
            already run Example: process.
        name (str): What `runtime.target` of a revision names Example: local.
        removed (bool): Whether the operator's configuration names it no more. It is listed while something is wanted on
            it; what runs goes on, nothing new starts
        status (str): `ok` while it has no conditions. One of `ok`, `degraded`.
    """

    capacity: TargetCapacityDto
    conditions: list[TargetConditionDto]
    devices: list[TargetDeviceDto]
    engines: list[TargetEngineDto]
    kind: str
    name: str
    removed: bool
    status: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        capacity = self.capacity.to_dict()

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        devices = []
        for devices_item_data in self.devices:
            devices_item = devices_item_data.to_dict()
            devices.append(devices_item)

        engines = []
        for engines_item_data in self.engines:
            engines_item = engines_item_data.to_dict()
            engines.append(engines_item)

        kind = self.kind

        name = self.name

        removed = self.removed

        status = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "capacity": capacity,
                "conditions": conditions,
                "devices": devices,
                "engines": engines,
                "kind": kind,
                "name": name,
                "removed": removed,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.target_capacity_dto import TargetCapacityDto
        from ..models.target_condition_dto import TargetConditionDto
        from ..models.target_device_dto import TargetDeviceDto
        from ..models.target_engine_dto import TargetEngineDto

        d = dict(src_dict)
        capacity = TargetCapacityDto.from_dict(d.pop("capacity"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = TargetConditionDto.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        devices = []
        _devices = d.pop("devices")
        for devices_item_data in _devices:
            devices_item = TargetDeviceDto.from_dict(devices_item_data)

            devices.append(devices_item)

        engines = []
        _engines = d.pop("engines")
        for engines_item_data in _engines:
            engines_item = TargetEngineDto.from_dict(engines_item_data)

            engines.append(engines_item)

        kind = d.pop("kind")

        name = d.pop("name")

        removed = d.pop("removed")

        status = d.pop("status")

        target_dto = cls(
            capacity=capacity,
            conditions=conditions,
            devices=devices,
            engines=engines,
            kind=kind,
            name=name,
            removed=removed,
            status=status,
        )

        target_dto.additional_properties = d
        return target_dto

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
