from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="EffectiveScalingDto")


@_attrs_define
class EffectiveScalingDto:
    """
    Attributes:
        idle_seconds (int | None): Null: it never sleeps
        max_replicas (int):
        min_replicas (int):
        scale_down_after_seconds (int):
        target_in_flight (int | None): Null: the number follows no load
    """

    idle_seconds: int | None
    max_replicas: int
    min_replicas: int
    scale_down_after_seconds: int
    target_in_flight: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idle_seconds: int | None
        idle_seconds = self.idle_seconds

        max_replicas = self.max_replicas

        min_replicas = self.min_replicas

        scale_down_after_seconds = self.scale_down_after_seconds

        target_in_flight: int | None
        target_in_flight = self.target_in_flight

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "idle_seconds": idle_seconds,
                "max_replicas": max_replicas,
                "min_replicas": min_replicas,
                "scale_down_after_seconds": scale_down_after_seconds,
                "target_in_flight": target_in_flight,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_idle_seconds(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        idle_seconds = _parse_idle_seconds(d.pop("idle_seconds"))

        max_replicas = d.pop("max_replicas")

        min_replicas = d.pop("min_replicas")

        scale_down_after_seconds = d.pop("scale_down_after_seconds")

        def _parse_target_in_flight(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        target_in_flight = _parse_target_in_flight(d.pop("target_in_flight"))

        effective_scaling_dto = cls(
            idle_seconds=idle_seconds,
            max_replicas=max_replicas,
            min_replicas=min_replicas,
            scale_down_after_seconds=scale_down_after_seconds,
            target_in_flight=target_in_flight,
        )

        effective_scaling_dto.additional_properties = d
        return effective_scaling_dto

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
