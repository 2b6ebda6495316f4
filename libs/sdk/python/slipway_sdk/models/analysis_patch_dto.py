from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.analysis_metric_dto import AnalysisMetricDto


T = TypeVar("T", bound="AnalysisPatchDto")


@_attrs_define
class AnalysisPatchDto:
    """
    Attributes:
        metrics (list[AnalysisMetricDto] | None | Unset):
        on_failure (None | str | Unset): One of `rollback`, `pause`, `null`.
        on_inconclusive (None | str | Unset): One of `pause`, `rollback`, `null`.
    """

    metrics: list[AnalysisMetricDto] | None | Unset = UNSET
    on_failure: None | str | Unset = UNSET
    on_inconclusive: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        metrics: list[dict[str, Any]] | None | Unset
        if isinstance(self.metrics, Unset):
            metrics = UNSET
        elif isinstance(self.metrics, list):
            metrics = []
            for metrics_type_0_item_data in self.metrics:
                metrics_type_0_item = metrics_type_0_item_data.to_dict()
                metrics.append(metrics_type_0_item)

        else:
            metrics = self.metrics

        on_failure: None | str | Unset
        if isinstance(self.on_failure, Unset):
            on_failure = UNSET
        else:
            on_failure = self.on_failure

        on_inconclusive: None | str | Unset
        if isinstance(self.on_inconclusive, Unset):
            on_inconclusive = UNSET
        else:
            on_inconclusive = self.on_inconclusive

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if metrics is not UNSET:
            field_dict["metrics"] = metrics
        if on_failure is not UNSET:
            field_dict["on_failure"] = on_failure
        if on_inconclusive is not UNSET:
            field_dict["on_inconclusive"] = on_inconclusive

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.analysis_metric_dto import AnalysisMetricDto

        d = dict(src_dict)

        def _parse_metrics(data: object) -> list[AnalysisMetricDto] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                metrics_type_0 = []
                _metrics_type_0 = data
                for metrics_type_0_item_data in _metrics_type_0:
                    metrics_type_0_item = AnalysisMetricDto.from_dict(metrics_type_0_item_data)

                    metrics_type_0.append(metrics_type_0_item)

                return metrics_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[AnalysisMetricDto] | None | Unset, data)

        metrics = _parse_metrics(d.pop("metrics", UNSET))

        def _parse_on_failure(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        on_failure = _parse_on_failure(d.pop("on_failure", UNSET))

        def _parse_on_inconclusive(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        on_inconclusive = _parse_on_inconclusive(d.pop("on_inconclusive", UNSET))

        analysis_patch_dto = cls(
            metrics=metrics,
            on_failure=on_failure,
            on_inconclusive=on_inconclusive,
        )

        analysis_patch_dto.additional_properties = d
        return analysis_patch_dto

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
