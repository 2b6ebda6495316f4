from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.measured_dto import MeasuredDto


T = TypeVar("T", bound="PlanEvidenceDto")


@_attrs_define
class PlanEvidenceDto:
    """
    Attributes:
        kind (str): One of `benchmark`, `telemetry`, `simulation`, `canary`.
        metric (str):  Example: ttft_ms.
        baseline (MeasuredDto | None | Unset):
        candidate (MeasuredDto | None | Unset):
        collected_at (datetime.datetime | None | Unset):
        delta_percent (float | None | Unset):
        digest (None | str | Unset): Of the raw data
        stat (None | str | Unset):  Example: p95.
        tool (None | str | Unset):  Example: guidellm 0.3.
    """

    kind: str
    metric: str
    baseline: MeasuredDto | None | Unset = UNSET
    candidate: MeasuredDto | None | Unset = UNSET
    collected_at: datetime.datetime | None | Unset = UNSET
    delta_percent: float | None | Unset = UNSET
    digest: None | str | Unset = UNSET
    stat: None | str | Unset = UNSET
    tool: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.measured_dto import MeasuredDto

        kind = self.kind

        metric = self.metric

        baseline: dict[str, Any] | None | Unset
        if isinstance(self.baseline, Unset):
            baseline = UNSET
        elif isinstance(self.baseline, MeasuredDto):
            baseline = self.baseline.to_dict()
        else:
            baseline = self.baseline

        candidate: dict[str, Any] | None | Unset
        if isinstance(self.candidate, Unset):
            candidate = UNSET
        elif isinstance(self.candidate, MeasuredDto):
            candidate = self.candidate.to_dict()
        else:
            candidate = self.candidate

        collected_at: None | str | Unset
        if isinstance(self.collected_at, Unset):
            collected_at = UNSET
        elif isinstance(self.collected_at, datetime.datetime):
            collected_at = self.collected_at.isoformat()
        else:
            collected_at = self.collected_at

        delta_percent: float | None | Unset
        if isinstance(self.delta_percent, Unset):
            delta_percent = UNSET
        else:
            delta_percent = self.delta_percent

        digest: None | str | Unset
        if isinstance(self.digest, Unset):
            digest = UNSET
        else:
            digest = self.digest

        stat: None | str | Unset
        if isinstance(self.stat, Unset):
            stat = UNSET
        else:
            stat = self.stat

        tool: None | str | Unset
        if isinstance(self.tool, Unset):
            tool = UNSET
        else:
            tool = self.tool

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "metric": metric,
            }
        )
        if baseline is not UNSET:
            field_dict["baseline"] = baseline
        if candidate is not UNSET:
            field_dict["candidate"] = candidate
        if collected_at is not UNSET:
            field_dict["collected_at"] = collected_at
        if delta_percent is not UNSET:
            field_dict["delta_percent"] = delta_percent
        if digest is not UNSET:
            field_dict["digest"] = digest
        if stat is not UNSET:
            field_dict["stat"] = stat
        if tool is not UNSET:
            field_dict["tool"] = tool

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.measured_dto import MeasuredDto

        d = dict(src_dict)
        kind = d.pop("kind")

        metric = d.pop("metric")

        def _parse_baseline(data: object) -> MeasuredDto | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                baseline_type_0 = MeasuredDto.from_dict(data)

                return baseline_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MeasuredDto | None | Unset, data)

        baseline = _parse_baseline(d.pop("baseline", UNSET))

        def _parse_candidate(data: object) -> MeasuredDto | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                candidate_type_0 = MeasuredDto.from_dict(data)

                return candidate_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MeasuredDto | None | Unset, data)

        candidate = _parse_candidate(d.pop("candidate", UNSET))

        def _parse_collected_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                collected_at_type_0 = datetime.datetime.fromisoformat(data)

                return collected_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        collected_at = _parse_collected_at(d.pop("collected_at", UNSET))

        def _parse_delta_percent(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        delta_percent = _parse_delta_percent(d.pop("delta_percent", UNSET))

        def _parse_digest(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        digest = _parse_digest(d.pop("digest", UNSET))

        def _parse_stat(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        stat = _parse_stat(d.pop("stat", UNSET))

        def _parse_tool(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tool = _parse_tool(d.pop("tool", UNSET))

        plan_evidence_dto = cls(
            kind=kind,
            metric=metric,
            baseline=baseline,
            candidate=candidate,
            collected_at=collected_at,
            delta_percent=delta_percent,
            digest=digest,
            stat=stat,
            tool=tool,
        )

        plan_evidence_dto.additional_properties = d
        return plan_evidence_dto

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
