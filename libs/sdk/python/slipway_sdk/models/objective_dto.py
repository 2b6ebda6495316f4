from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ObjectiveDto")


@_attrs_define
class ObjectiveDto:
    """
    Attributes:
        direction (str): One of `minimize`, `maximize`.
        metric (str): One of `error_rate`, `upstream_fault_rate`, `ttft_ms`, `itl_ms`, `e2e_latency_ms`,
            `output_tokens_per_s`.
    """

    direction: str
    metric: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        direction = self.direction

        metric = self.metric

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "direction": direction,
                "metric": metric,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        direction = d.pop("direction")

        metric = d.pop("metric")

        objective_dto = cls(
            direction=direction,
            metric=metric,
        )

        objective_dto.additional_properties = d
        return objective_dto

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
