from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SloDto")


@_attrs_define
class SloDto:
    """
    Attributes:
        metric (str): One of `error_rate`, `upstream_fault_rate`, `ttft_ms`, `itl_ms`, `e2e_latency_ms`,
            `output_tokens_per_s`.
        threshold (float): In the unit of the metric, or a share of 0..1. A metric that is better when higher must not
            fall below it, the others not rise above
        stat (str | Unset): The default of the metric where absent: p95 of values, rate of counts. One of `avg`, `p50`,
            `p90`, `p95`, `p99`, `rate`.
    """

    metric: str
    threshold: float
    stat: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        metric = self.metric

        threshold = self.threshold

        stat = self.stat

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "metric": metric,
                "threshold": threshold,
            }
        )
        if stat is not UNSET:
            field_dict["stat"] = stat

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        metric = d.pop("metric")

        threshold = d.pop("threshold")

        stat = d.pop("stat", UNSET)

        slo_dto = cls(
            metric=metric,
            threshold=threshold,
            stat=stat,
        )

        slo_dto.additional_properties = d
        return slo_dto

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
