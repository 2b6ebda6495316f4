from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ScalingOverrideDto")


@_attrs_define
class ScalingOverrideDto:
    """
    Attributes:
        idle_seconds (int | Unset): Without requests, until the last instance goes; only with `min_replicas: 0`, and 600
            where nothing is said
        max_replicas (int | Unset): Instances at most, where their number follows the load
        min_replicas (int | Unset): Instances at least; 0: it sleeps when nobody asks for it
        scale_down_after_seconds (int | Unset): How long the load must be low before one instance goes; 300 where
            nothing is said
        target_in_flight (int | Unset): Requests in flight that one instance is meant to have. Without it the number
            follows no load
    """

    idle_seconds: int | Unset = UNSET
    max_replicas: int | Unset = UNSET
    min_replicas: int | Unset = UNSET
    scale_down_after_seconds: int | Unset = UNSET
    target_in_flight: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idle_seconds = self.idle_seconds

        max_replicas = self.max_replicas

        min_replicas = self.min_replicas

        scale_down_after_seconds = self.scale_down_after_seconds

        target_in_flight = self.target_in_flight

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if idle_seconds is not UNSET:
            field_dict["idle_seconds"] = idle_seconds
        if max_replicas is not UNSET:
            field_dict["max_replicas"] = max_replicas
        if min_replicas is not UNSET:
            field_dict["min_replicas"] = min_replicas
        if scale_down_after_seconds is not UNSET:
            field_dict["scale_down_after_seconds"] = scale_down_after_seconds
        if target_in_flight is not UNSET:
            field_dict["target_in_flight"] = target_in_flight

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        idle_seconds = d.pop("idle_seconds", UNSET)

        max_replicas = d.pop("max_replicas", UNSET)

        min_replicas = d.pop("min_replicas", UNSET)

        scale_down_after_seconds = d.pop("scale_down_after_seconds", UNSET)

        target_in_flight = d.pop("target_in_flight", UNSET)

        scaling_override_dto = cls(
            idle_seconds=idle_seconds,
            max_replicas=max_replicas,
            min_replicas=min_replicas,
            scale_down_after_seconds=scale_down_after_seconds,
            target_in_flight=target_in_flight,
        )

        scaling_override_dto.additional_properties = d
        return scaling_override_dto

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
