from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_plan_dto_predicted_impact_type_0 import CreatePlanDtoPredictedImpactType0
    from ..models.create_plan_dto_rollout import CreatePlanDtoRollout
    from ..models.plan_change_dto import PlanChangeDto
    from ..models.plan_evidence_dto import PlanEvidenceDto
    from ..models.plan_risk_dto import PlanRiskDto


T = TypeVar("T", bound="CreatePlanDto")


@_attrs_define
class CreatePlanDto:
    """
    Attributes:
        deployment (str): Name of the deployment Example: chat.
        base_revision (str | Unset): Id, number or name of the revision the plan is based on; it must be the active one,
            and is where absent
        base_spec_digest (str | Unset): 409 plan_stale unless the base has this digest
        changes (list[PlanChangeDto] | Unset): What to change; derived from rollout where absent. `[]` unless given.
        evidence (list[PlanEvidenceDto] | Unset): `[]` unless given.
        predicted_impact (CreatePlanDtoPredictedImpactType0 | None | Unset): What the author expects, in the author's
            own terms
        risk (PlanRiskDto | Unset):
        rollout (CreatePlanDtoRollout | Unset): A body for POST /deployments/{name}/rollouts; derived from changes where
            absent Example: {'spec_patch': {'scaling': {'min_replicas': 2}}}.
        summary (str | Unset): `""` unless given.
    """

    deployment: str
    base_revision: str | Unset = UNSET
    base_spec_digest: str | Unset = UNSET
    changes: list[PlanChangeDto] | Unset = UNSET
    evidence: list[PlanEvidenceDto] | Unset = UNSET
    predicted_impact: CreatePlanDtoPredictedImpactType0 | None | Unset = UNSET
    risk: PlanRiskDto | Unset = UNSET
    rollout: CreatePlanDtoRollout | Unset = UNSET
    summary: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.create_plan_dto_predicted_impact_type_0 import CreatePlanDtoPredictedImpactType0

        deployment = self.deployment

        base_revision = self.base_revision

        base_spec_digest = self.base_spec_digest

        changes: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.changes, Unset):
            changes = []
            for changes_item_data in self.changes:
                changes_item = changes_item_data.to_dict()
                changes.append(changes_item)

        evidence: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.evidence, Unset):
            evidence = []
            for evidence_item_data in self.evidence:
                evidence_item = evidence_item_data.to_dict()
                evidence.append(evidence_item)

        predicted_impact: dict[str, Any] | None | Unset
        if isinstance(self.predicted_impact, Unset):
            predicted_impact = UNSET
        elif isinstance(self.predicted_impact, CreatePlanDtoPredictedImpactType0):
            predicted_impact = self.predicted_impact.to_dict()
        else:
            predicted_impact = self.predicted_impact

        risk: dict[str, Any] | Unset = UNSET
        if not isinstance(self.risk, Unset):
            risk = self.risk.to_dict()

        rollout: dict[str, Any] | Unset = UNSET
        if not isinstance(self.rollout, Unset):
            rollout = self.rollout.to_dict()

        summary = self.summary

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "deployment": deployment,
            }
        )
        if base_revision is not UNSET:
            field_dict["base_revision"] = base_revision
        if base_spec_digest is not UNSET:
            field_dict["base_spec_digest"] = base_spec_digest
        if changes is not UNSET:
            field_dict["changes"] = changes
        if evidence is not UNSET:
            field_dict["evidence"] = evidence
        if predicted_impact is not UNSET:
            field_dict["predicted_impact"] = predicted_impact
        if risk is not UNSET:
            field_dict["risk"] = risk
        if rollout is not UNSET:
            field_dict["rollout"] = rollout
        if summary is not UNSET:
            field_dict["summary"] = summary

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.create_plan_dto_predicted_impact_type_0 import CreatePlanDtoPredictedImpactType0
        from ..models.create_plan_dto_rollout import CreatePlanDtoRollout
        from ..models.plan_change_dto import PlanChangeDto
        from ..models.plan_evidence_dto import PlanEvidenceDto
        from ..models.plan_risk_dto import PlanRiskDto

        d = dict(src_dict)
        deployment = d.pop("deployment")

        base_revision = d.pop("base_revision", UNSET)

        base_spec_digest = d.pop("base_spec_digest", UNSET)

        _changes = d.pop("changes", UNSET)
        changes: list[PlanChangeDto] | Unset = UNSET
        if _changes is not UNSET:
            changes = []
            for changes_item_data in _changes:
                changes_item = PlanChangeDto.from_dict(changes_item_data)

                changes.append(changes_item)

        _evidence = d.pop("evidence", UNSET)
        evidence: list[PlanEvidenceDto] | Unset = UNSET
        if _evidence is not UNSET:
            evidence = []
            for evidence_item_data in _evidence:
                evidence_item = PlanEvidenceDto.from_dict(evidence_item_data)

                evidence.append(evidence_item)

        def _parse_predicted_impact(data: object) -> CreatePlanDtoPredictedImpactType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                predicted_impact_type_0 = CreatePlanDtoPredictedImpactType0.from_dict(data)

                return predicted_impact_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreatePlanDtoPredictedImpactType0 | None | Unset, data)

        predicted_impact = _parse_predicted_impact(d.pop("predicted_impact", UNSET))

        _risk = d.pop("risk", UNSET)
        risk: PlanRiskDto | Unset
        if isinstance(_risk, Unset):
            risk = UNSET
        else:
            risk = PlanRiskDto.from_dict(_risk)

        _rollout = d.pop("rollout", UNSET)
        rollout: CreatePlanDtoRollout | Unset
        if isinstance(_rollout, Unset):
            rollout = UNSET
        else:
            rollout = CreatePlanDtoRollout.from_dict(_rollout)

        summary = d.pop("summary", UNSET)

        create_plan_dto = cls(
            deployment=deployment,
            base_revision=base_revision,
            base_spec_digest=base_spec_digest,
            changes=changes,
            evidence=evidence,
            predicted_impact=predicted_impact,
            risk=risk,
            rollout=rollout,
            summary=summary,
        )

        create_plan_dto.additional_properties = d
        return create_plan_dto

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
