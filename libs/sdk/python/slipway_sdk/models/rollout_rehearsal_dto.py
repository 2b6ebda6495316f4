from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.capacity_dto import CapacityDto
    from ..models.rehearsal_change_dto import RehearsalChangeDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="RolloutRehearsalDto")


@_attrs_define
class RolloutRehearsalDto:
    """
    Attributes:
        capacity (CapacityDto):
        diff (list[RehearsalChangeDto]): RFC 6902: what would change
        steps (list[str]): The steps of the operation it would start; empty where it starts none
        valid (bool):
        would (str): What the request would do
        strategy (str | Unset): Of a rollout: what `auto` comes to now. One of `candidate`, `canary`, `blue_green`,
            `immediate`, `recreate`, `auto`.
        warnings (list[WarningDto] | Unset):
    """

    capacity: CapacityDto
    diff: list[RehearsalChangeDto]
    steps: list[str]
    valid: bool
    would: str
    strategy: str | Unset = UNSET
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        capacity = self.capacity.to_dict()

        diff = []
        for diff_item_data in self.diff:
            diff_item = diff_item_data.to_dict()
            diff.append(diff_item)

        steps = self.steps

        valid = self.valid

        would = self.would

        strategy = self.strategy

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "capacity": capacity,
                "diff": diff,
                "steps": steps,
                "valid": valid,
                "would": would,
            }
        )
        if strategy is not UNSET:
            field_dict["strategy"] = strategy
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.capacity_dto import CapacityDto
        from ..models.rehearsal_change_dto import RehearsalChangeDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        capacity = CapacityDto.from_dict(d.pop("capacity"))

        diff = []
        _diff = d.pop("diff")
        for diff_item_data in _diff:
            diff_item = RehearsalChangeDto.from_dict(diff_item_data)

            diff.append(diff_item)

        steps = cast(list[str], d.pop("steps"))

        valid = d.pop("valid")

        would = d.pop("would")

        strategy = d.pop("strategy", UNSET)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        rollout_rehearsal_dto = cls(
            capacity=capacity,
            diff=diff,
            steps=steps,
            valid=valid,
            would=would,
            strategy=strategy,
            warnings=warnings,
        )

        rollout_rehearsal_dto.additional_properties = d
        return rollout_rehearsal_dto

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
