from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AnalysisMetricDto")


@_attrs_define
class AnalysisMetricDto:
    """
    Attributes:
        check (str): One of `threshold`, `regression`.
        name (str): One of `error_rate`, `upstream_fault_rate`, `ttft_ms`, `itl_ms`, `e2e_latency_ms`,
            `output_tokens_per_s`.
        dry_run (bool | Unset): Reported, never blocks. `false` unless given.
        failure_limit (int | Unset): Breaches in a row that are forgiven. `0` unless given.
        max_regression_percent (float | Unset):
        min_samples (int | Unset): `50` unless given.
        operator (str | Unset): Where absent, lte for metrics that are better when lower, else gte. One of `lte`, `gte`.
        stat (str | Unset): The default of the metric where absent: p95 of values, rate of counts. One of `avg`, `p50`,
            `p90`, `p95`, `p99`, `rate`.
        threshold (float | Unset):
        window_seconds (int | Unset): The soak where absent
    """

    check: str
    name: str
    dry_run: bool | Unset = UNSET
    failure_limit: int | Unset = UNSET
    max_regression_percent: float | Unset = UNSET
    min_samples: int | Unset = UNSET
    operator: str | Unset = UNSET
    stat: str | Unset = UNSET
    threshold: float | Unset = UNSET
    window_seconds: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        check = self.check

        name = self.name

        dry_run = self.dry_run

        failure_limit = self.failure_limit

        max_regression_percent = self.max_regression_percent

        min_samples = self.min_samples

        operator = self.operator

        stat = self.stat

        threshold = self.threshold

        window_seconds = self.window_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "check": check,
                "name": name,
            }
        )
        if dry_run is not UNSET:
            field_dict["dry_run"] = dry_run
        if failure_limit is not UNSET:
            field_dict["failure_limit"] = failure_limit
        if max_regression_percent is not UNSET:
            field_dict["max_regression_percent"] = max_regression_percent
        if min_samples is not UNSET:
            field_dict["min_samples"] = min_samples
        if operator is not UNSET:
            field_dict["operator"] = operator
        if stat is not UNSET:
            field_dict["stat"] = stat
        if threshold is not UNSET:
            field_dict["threshold"] = threshold
        if window_seconds is not UNSET:
            field_dict["window_seconds"] = window_seconds

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        check = d.pop("check")

        name = d.pop("name")

        dry_run = d.pop("dry_run", UNSET)

        failure_limit = d.pop("failure_limit", UNSET)

        max_regression_percent = d.pop("max_regression_percent", UNSET)

        min_samples = d.pop("min_samples", UNSET)

        operator = d.pop("operator", UNSET)

        stat = d.pop("stat", UNSET)

        threshold = d.pop("threshold", UNSET)

        window_seconds = d.pop("window_seconds", UNSET)

        analysis_metric_dto = cls(
            check=check,
            name=name,
            dry_run=dry_run,
            failure_limit=failure_limit,
            max_regression_percent=max_regression_percent,
            min_samples=min_samples,
            operator=operator,
            stat=stat,
            threshold=threshold,
            window_seconds=window_seconds,
        )

        analysis_metric_dto.additional_properties = d
        return analysis_metric_dto

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
