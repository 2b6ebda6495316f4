from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.strategy_step_dto import StrategyStepDto


T = TypeVar("T", bound="StrategyDto")


@_attrs_define
class StrategyDto:
    """
    Attributes:
        type_ (str): `candidate` proves the revision ready and moves no traffic. `recreate` stops the previous revision
            before it starts the next, for targets without room for both: requests wait meanwhile. `auto`: `canary` where
            there is room, else `recreate`. One of `candidate`, `canary`, `blue_green`, `immediate`, `recreate`, `auto`.
        hold_seconds (int | Unset): recreate and auto: the longest that a request waits before it answers 503; 60 where
            absent
        steps (list[StrategyStepDto] | Unset): canary and auto: 5, 25, 50, 100 where absent; blue_green and recreate:
            one step of 100. A recreate out of `auto` soaks as long as the last one
    """

    type_: str
    hold_seconds: int | Unset = UNSET
    steps: list[StrategyStepDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        hold_seconds = self.hold_seconds

        steps: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.steps, Unset):
            steps = []
            for steps_item_data in self.steps:
                steps_item = steps_item_data.to_dict()
                steps.append(steps_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
            }
        )
        if hold_seconds is not UNSET:
            field_dict["hold_seconds"] = hold_seconds
        if steps is not UNSET:
            field_dict["steps"] = steps

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.strategy_step_dto import StrategyStepDto

        d = dict(src_dict)
        type_ = d.pop("type")

        hold_seconds = d.pop("hold_seconds", UNSET)

        _steps = d.pop("steps", UNSET)
        steps: list[StrategyStepDto] | Unset = UNSET
        if _steps is not UNSET:
            steps = []
            for steps_item_data in _steps:
                steps_item = StrategyStepDto.from_dict(steps_item_data)

                steps.append(steps_item)

        strategy_dto = cls(
            type_=type_,
            hold_seconds=hold_seconds,
            steps=steps,
        )

        strategy_dto.additional_properties = d
        return strategy_dto

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
