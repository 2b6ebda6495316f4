from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="StrategyStepDto")


@_attrs_define
class StrategyStepDto:
    """
    Attributes:
        traffic_percent (int): Share of the traffic the candidate gets at this step
        requires_approval (bool | Unset): Waits for POST /operations/{id}/resume after this step. `false` unless given.
        soak_seconds (int | Unset): `180` unless given.
    """

    traffic_percent: int
    requires_approval: bool | Unset = UNSET
    soak_seconds: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        traffic_percent = self.traffic_percent

        requires_approval = self.requires_approval

        soak_seconds = self.soak_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "traffic_percent": traffic_percent,
            }
        )
        if requires_approval is not UNSET:
            field_dict["requires_approval"] = requires_approval
        if soak_seconds is not UNSET:
            field_dict["soak_seconds"] = soak_seconds

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        traffic_percent = d.pop("traffic_percent")

        requires_approval = d.pop("requires_approval", UNSET)

        soak_seconds = d.pop("soak_seconds", UNSET)

        strategy_step_dto = cls(
            traffic_percent=traffic_percent,
            requires_approval=requires_approval,
            soak_seconds=soak_seconds,
        )

        strategy_step_dto.additional_properties = d
        return strategy_step_dto

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
