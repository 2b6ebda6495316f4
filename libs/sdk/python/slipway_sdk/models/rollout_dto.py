from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.analysis_dto import AnalysisDto
    from ..models.revision_spec_dto import RevisionSpecDto
    from ..models.rollout_dto_spec_patch import RolloutDtoSpecPatch
    from ..models.strategy_dto import StrategyDto


T = TypeVar("T", bound="RolloutDto")


@_attrs_define
class RolloutDto:
    """
    Attributes:
        analysis (AnalysisDto | Unset):
        base_revision (str | Unset): What spec_patch applies to: id, number or name; the active revision where absent
        change_ref (str | Unset):  Example: git:4f2a1c9.
        expected_active_revision (str | Unset): 412 unless this revision is the active one
        keep_previous_seconds (int | Unset): How long the previous revision (or an unrouted candidate) stays warm; 3600
            where absent. A recreate keeps nothing: it takes 0 only
        plan_id (str | Unset): Executes an approved plan; what this body leaves out comes from the plan, what it states
            must be what was approved
        progress_deadline_seconds (int | Unset): How long the instances may take to be ready. 600 where absent; longer
            where the template of the engine gives a start longer
        reason (str | Unset):
        spec (RevisionSpecDto | Unset):
        spec_patch (RolloutDtoSpecPatch | Unset): RFC 7386 merge patch on base_revision; or spec Example: {'runtime':
            {'args': {'ttft_ms': 10}}}.
        strategy (StrategyDto | Unset):
    """

    analysis: AnalysisDto | Unset = UNSET
    base_revision: str | Unset = UNSET
    change_ref: str | Unset = UNSET
    expected_active_revision: str | Unset = UNSET
    keep_previous_seconds: int | Unset = UNSET
    plan_id: str | Unset = UNSET
    progress_deadline_seconds: int | Unset = UNSET
    reason: str | Unset = UNSET
    spec: RevisionSpecDto | Unset = UNSET
    spec_patch: RolloutDtoSpecPatch | Unset = UNSET
    strategy: StrategyDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        analysis: dict[str, Any] | Unset = UNSET
        if not isinstance(self.analysis, Unset):
            analysis = self.analysis.to_dict()

        base_revision = self.base_revision

        change_ref = self.change_ref

        expected_active_revision = self.expected_active_revision

        keep_previous_seconds = self.keep_previous_seconds

        plan_id = self.plan_id

        progress_deadline_seconds = self.progress_deadline_seconds

        reason = self.reason

        spec: dict[str, Any] | Unset = UNSET
        if not isinstance(self.spec, Unset):
            spec = self.spec.to_dict()

        spec_patch: dict[str, Any] | Unset = UNSET
        if not isinstance(self.spec_patch, Unset):
            spec_patch = self.spec_patch.to_dict()

        strategy: dict[str, Any] | Unset = UNSET
        if not isinstance(self.strategy, Unset):
            strategy = self.strategy.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if analysis is not UNSET:
            field_dict["analysis"] = analysis
        if base_revision is not UNSET:
            field_dict["base_revision"] = base_revision
        if change_ref is not UNSET:
            field_dict["change_ref"] = change_ref
        if expected_active_revision is not UNSET:
            field_dict["expected_active_revision"] = expected_active_revision
        if keep_previous_seconds is not UNSET:
            field_dict["keep_previous_seconds"] = keep_previous_seconds
        if plan_id is not UNSET:
            field_dict["plan_id"] = plan_id
        if progress_deadline_seconds is not UNSET:
            field_dict["progress_deadline_seconds"] = progress_deadline_seconds
        if reason is not UNSET:
            field_dict["reason"] = reason
        if spec is not UNSET:
            field_dict["spec"] = spec
        if spec_patch is not UNSET:
            field_dict["spec_patch"] = spec_patch
        if strategy is not UNSET:
            field_dict["strategy"] = strategy

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.analysis_dto import AnalysisDto
        from ..models.revision_spec_dto import RevisionSpecDto
        from ..models.rollout_dto_spec_patch import RolloutDtoSpecPatch
        from ..models.strategy_dto import StrategyDto

        d = dict(src_dict)
        _analysis = d.pop("analysis", UNSET)
        analysis: AnalysisDto | Unset
        if isinstance(_analysis, Unset):
            analysis = UNSET
        else:
            analysis = AnalysisDto.from_dict(_analysis)

        base_revision = d.pop("base_revision", UNSET)

        change_ref = d.pop("change_ref", UNSET)

        expected_active_revision = d.pop("expected_active_revision", UNSET)

        keep_previous_seconds = d.pop("keep_previous_seconds", UNSET)

        plan_id = d.pop("plan_id", UNSET)

        progress_deadline_seconds = d.pop("progress_deadline_seconds", UNSET)

        reason = d.pop("reason", UNSET)

        _spec = d.pop("spec", UNSET)
        spec: RevisionSpecDto | Unset
        if isinstance(_spec, Unset):
            spec = UNSET
        else:
            spec = RevisionSpecDto.from_dict(_spec)

        _spec_patch = d.pop("spec_patch", UNSET)
        spec_patch: RolloutDtoSpecPatch | Unset
        if isinstance(_spec_patch, Unset):
            spec_patch = UNSET
        else:
            spec_patch = RolloutDtoSpecPatch.from_dict(_spec_patch)

        _strategy = d.pop("strategy", UNSET)
        strategy: StrategyDto | Unset
        if isinstance(_strategy, Unset):
            strategy = UNSET
        else:
            strategy = StrategyDto.from_dict(_strategy)

        rollout_dto = cls(
            analysis=analysis,
            base_revision=base_revision,
            change_ref=change_ref,
            expected_active_revision=expected_active_revision,
            keep_previous_seconds=keep_previous_seconds,
            plan_id=plan_id,
            progress_deadline_seconds=progress_deadline_seconds,
            reason=reason,
            spec=spec,
            spec_patch=spec_patch,
            strategy=strategy,
        )

        rollout_dto.additional_properties = d
        return rollout_dto

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
