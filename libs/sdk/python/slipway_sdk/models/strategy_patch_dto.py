from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.strategy_step_dto import StrategyStepDto


T = TypeVar("T", bound="StrategyPatchDto")


@_attrs_define
class StrategyPatchDto:
    """
    Attributes:
        hold_seconds (int | None | Unset):
        steps (list[StrategyStepDto] | None | Unset):
        type_ (None | str | Unset): One of `candidate`, `canary`, `blue_green`, `immediate`, `recreate`, `auto`, `null`.
    """

    hold_seconds: int | None | Unset = UNSET
    steps: list[StrategyStepDto] | None | Unset = UNSET
    type_: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hold_seconds: int | None | Unset
        if isinstance(self.hold_seconds, Unset):
            hold_seconds = UNSET
        else:
            hold_seconds = self.hold_seconds

        steps: list[dict[str, Any]] | None | Unset
        if isinstance(self.steps, Unset):
            steps = UNSET
        elif isinstance(self.steps, list):
            steps = []
            for steps_type_0_item_data in self.steps:
                steps_type_0_item = steps_type_0_item_data.to_dict()
                steps.append(steps_type_0_item)

        else:
            steps = self.steps

        type_: None | str | Unset
        if isinstance(self.type_, Unset):
            type_ = UNSET
        else:
            type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if hold_seconds is not UNSET:
            field_dict["hold_seconds"] = hold_seconds
        if steps is not UNSET:
            field_dict["steps"] = steps
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.strategy_step_dto import StrategyStepDto

        d = dict(src_dict)

        def _parse_hold_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        hold_seconds = _parse_hold_seconds(d.pop("hold_seconds", UNSET))

        def _parse_steps(data: object) -> list[StrategyStepDto] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                steps_type_0 = []
                _steps_type_0 = data
                for steps_type_0_item_data in _steps_type_0:
                    steps_type_0_item = StrategyStepDto.from_dict(steps_type_0_item_data)

                    steps_type_0.append(steps_type_0_item)

                return steps_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[StrategyStepDto] | None | Unset, data)

        steps = _parse_steps(d.pop("steps", UNSET))

        def _parse_type_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        type_ = _parse_type_(d.pop("type", UNSET))

        strategy_patch_dto = cls(
            hold_seconds=hold_seconds,
            steps=steps,
            type_=type_,
        )

        strategy_patch_dto.additional_properties = d
        return strategy_patch_dto

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
