from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ScalingPatchDto")


@_attrs_define
class ScalingPatchDto:
    """
    Attributes:
        idle_seconds (int | None | Unset): Without requests, until the last instance goes; only with `min_replicas: 0`,
            and 600 where nothing is said
        max_replicas (int | None | Unset): Instances at most, where their number follows the load
        min_replicas (int | None | Unset): Instances at least; 0: it sleeps when nobody asks for it
        scale_down_after_seconds (int | None | Unset): How long the load must be low before one instance goes; 300 where
            nothing is said
        target_in_flight (int | None | Unset): Requests in flight that one instance is meant to have. Without it the
            number follows no load
    """

    idle_seconds: int | None | Unset = UNSET
    max_replicas: int | None | Unset = UNSET
    min_replicas: int | None | Unset = UNSET
    scale_down_after_seconds: int | None | Unset = UNSET
    target_in_flight: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idle_seconds: int | None | Unset
        if isinstance(self.idle_seconds, Unset):
            idle_seconds = UNSET
        else:
            idle_seconds = self.idle_seconds

        max_replicas: int | None | Unset
        if isinstance(self.max_replicas, Unset):
            max_replicas = UNSET
        else:
            max_replicas = self.max_replicas

        min_replicas: int | None | Unset
        if isinstance(self.min_replicas, Unset):
            min_replicas = UNSET
        else:
            min_replicas = self.min_replicas

        scale_down_after_seconds: int | None | Unset
        if isinstance(self.scale_down_after_seconds, Unset):
            scale_down_after_seconds = UNSET
        else:
            scale_down_after_seconds = self.scale_down_after_seconds

        target_in_flight: int | None | Unset
        if isinstance(self.target_in_flight, Unset):
            target_in_flight = UNSET
        else:
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

        def _parse_idle_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        idle_seconds = _parse_idle_seconds(d.pop("idle_seconds", UNSET))

        def _parse_max_replicas(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_replicas = _parse_max_replicas(d.pop("max_replicas", UNSET))

        def _parse_min_replicas(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_replicas = _parse_min_replicas(d.pop("min_replicas", UNSET))

        def _parse_scale_down_after_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        scale_down_after_seconds = _parse_scale_down_after_seconds(d.pop("scale_down_after_seconds", UNSET))

        def _parse_target_in_flight(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        target_in_flight = _parse_target_in_flight(d.pop("target_in_flight", UNSET))

        scaling_patch_dto = cls(
            idle_seconds=idle_seconds,
            max_replicas=max_replicas,
            min_replicas=min_replicas,
            scale_down_after_seconds=scale_down_after_seconds,
            target_in_flight=target_in_flight,
        )

        scaling_patch_dto.additional_properties = d
        return scaling_patch_dto

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
