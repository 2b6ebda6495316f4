from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.analysis_metric_dto import AnalysisMetricDto


T = TypeVar("T", bound="AnalysisDto")


@_attrs_define
class AnalysisDto:
    """
    Attributes:
        metrics (list[AnalysisMetricDto]):
        on_failure (str | Unset): One of `rollback`, `pause`. `"rollback"` unless given.
        on_inconclusive (str | Unset): One of `pause`, `rollback`. `"pause"` unless given.
    """

    metrics: list[AnalysisMetricDto]
    on_failure: str | Unset = UNSET
    on_inconclusive: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        metrics = []
        for metrics_item_data in self.metrics:
            metrics_item = metrics_item_data.to_dict()
            metrics.append(metrics_item)

        on_failure = self.on_failure

        on_inconclusive = self.on_inconclusive

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "metrics": metrics,
            }
        )
        if on_failure is not UNSET:
            field_dict["on_failure"] = on_failure
        if on_inconclusive is not UNSET:
            field_dict["on_inconclusive"] = on_inconclusive

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.analysis_metric_dto import AnalysisMetricDto

        d = dict(src_dict)
        metrics = []
        _metrics = d.pop("metrics")
        for metrics_item_data in _metrics:
            metrics_item = AnalysisMetricDto.from_dict(metrics_item_data)

            metrics.append(metrics_item)

        on_failure = d.pop("on_failure", UNSET)

        on_inconclusive = d.pop("on_inconclusive", UNSET)

        analysis_dto = cls(
            metrics=metrics,
            on_failure=on_failure,
            on_inconclusive=on_inconclusive,
        )

        analysis_dto.additional_properties = d
        return analysis_dto

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
