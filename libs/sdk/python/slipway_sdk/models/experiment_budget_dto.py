from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.money_dto import MoneyDto


T = TypeVar("T", bound="ExperimentBudgetDto")


@_attrs_define
class ExperimentBudgetDto:
    """
    Attributes:
        allowed_knobs (list[str] | Unset): Paths within a revision's spec that a plan may change, with what lies under
            them; a bare name is an engine argument. Absent: a plan may change anything, the autopilot proposes
            scaling.min_replicas only; empty: nothing Example: ['scaling.min_replicas', 'runtime.args.max_num_seqs'].
        max_cost (MoneyDto | Unset):
        max_experiments (int | Unset): Plans the autopilot may propose in a period
        max_gpu_hours (float | Unset):
        max_parallel (int | Unset): `1` unless given.
        max_traffic_percent (float | Unset): The first share of the traffic a candidate may get. `5` unless given.
        period (str | Unset): The last 1, 7 or 30 days. One of `day`, `week`, `month`. `"month"` unless given.
    """

    allowed_knobs: list[str] | Unset = UNSET
    max_cost: MoneyDto | Unset = UNSET
    max_experiments: int | Unset = UNSET
    max_gpu_hours: float | Unset = UNSET
    max_parallel: int | Unset = UNSET
    max_traffic_percent: float | Unset = UNSET
    period: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        allowed_knobs: list[str] | Unset = UNSET
        if not isinstance(self.allowed_knobs, Unset):
            allowed_knobs = self.allowed_knobs

        max_cost: dict[str, Any] | Unset = UNSET
        if not isinstance(self.max_cost, Unset):
            max_cost = self.max_cost.to_dict()

        max_experiments = self.max_experiments

        max_gpu_hours = self.max_gpu_hours

        max_parallel = self.max_parallel

        max_traffic_percent = self.max_traffic_percent

        period = self.period

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if allowed_knobs is not UNSET:
            field_dict["allowed_knobs"] = allowed_knobs
        if max_cost is not UNSET:
            field_dict["max_cost"] = max_cost
        if max_experiments is not UNSET:
            field_dict["max_experiments"] = max_experiments
        if max_gpu_hours is not UNSET:
            field_dict["max_gpu_hours"] = max_gpu_hours
        if max_parallel is not UNSET:
            field_dict["max_parallel"] = max_parallel
        if max_traffic_percent is not UNSET:
            field_dict["max_traffic_percent"] = max_traffic_percent
        if period is not UNSET:
            field_dict["period"] = period

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.money_dto import MoneyDto

        d = dict(src_dict)
        allowed_knobs = cast(list[str], d.pop("allowed_knobs", UNSET))

        _max_cost = d.pop("max_cost", UNSET)
        max_cost: MoneyDto | Unset
        if isinstance(_max_cost, Unset):
            max_cost = UNSET
        else:
            max_cost = MoneyDto.from_dict(_max_cost)

        max_experiments = d.pop("max_experiments", UNSET)

        max_gpu_hours = d.pop("max_gpu_hours", UNSET)

        max_parallel = d.pop("max_parallel", UNSET)

        max_traffic_percent = d.pop("max_traffic_percent", UNSET)

        period = d.pop("period", UNSET)

        experiment_budget_dto = cls(
            allowed_knobs=allowed_knobs,
            max_cost=max_cost,
            max_experiments=max_experiments,
            max_gpu_hours=max_gpu_hours,
            max_parallel=max_parallel,
            max_traffic_percent=max_traffic_percent,
            period=period,
        )

        experiment_budget_dto.additional_properties = d
        return experiment_budget_dto

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
