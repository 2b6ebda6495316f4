from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.plan_actor_dto import PlanActorDto
    from ..models.plan_approval_dto import PlanApprovalDto
    from ..models.plan_change_dto import PlanChangeDto
    from ..models.plan_dto_predicted_impact_type_0 import PlanDtoPredictedImpactType0
    from ..models.plan_dto_rollout import PlanDtoRollout
    from ..models.plan_evidence_dto import PlanEvidenceDto
    from ..models.plan_risk_dto import PlanRiskDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="PlanDto")


@_attrs_define
class PlanDto:
    """
    Attributes:
        approval (PlanApprovalDto):
        base_revision (str):  Example: chat-00002.
        base_spec_digest (str):
        changes (list[PlanChangeDto]):
        content_digest (str): SHA-256 of the canonical JSON (RFC 8785) of everything above
        created_at (datetime.datetime):
        created_by (PlanActorDto):
        deployment (str): Name of the deployment
        etag (str): Also the ETag header: digest and approval version, and whether time has passed over it
        evidence (list[PlanEvidenceDto]):
        expires_at (datetime.datetime):
        id (str):  Example: plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5.
        policy_version (int | None): Version of the policy it keeps to; null where there was none
        predicted_impact (None | PlanDtoPredictedImpactType0):
        risk (PlanRiskDto):
        rollout (PlanDtoRollout): Ready to be sent to POST /deployments/{name}/rollouts
        stale (bool): The base is no longer the active revision: it can be neither approved nor executed
        summary (str):
        warnings (list[WarningDto] | Unset):
    """

    approval: PlanApprovalDto
    base_revision: str
    base_spec_digest: str
    changes: list[PlanChangeDto]
    content_digest: str
    created_at: datetime.datetime
    created_by: PlanActorDto
    deployment: str
    etag: str
    evidence: list[PlanEvidenceDto]
    expires_at: datetime.datetime
    id: str
    policy_version: int | None
    predicted_impact: None | PlanDtoPredictedImpactType0
    risk: PlanRiskDto
    rollout: PlanDtoRollout
    stale: bool
    summary: str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.plan_dto_predicted_impact_type_0 import PlanDtoPredictedImpactType0

        approval = self.approval.to_dict()

        base_revision = self.base_revision

        base_spec_digest = self.base_spec_digest

        changes = []
        for changes_item_data in self.changes:
            changes_item = changes_item_data.to_dict()
            changes.append(changes_item)

        content_digest = self.content_digest

        created_at = self.created_at.isoformat()

        created_by = self.created_by.to_dict()

        deployment = self.deployment

        etag = self.etag

        evidence = []
        for evidence_item_data in self.evidence:
            evidence_item = evidence_item_data.to_dict()
            evidence.append(evidence_item)

        expires_at = self.expires_at.isoformat()

        id = self.id

        policy_version: int | None
        policy_version = self.policy_version

        predicted_impact: dict[str, Any] | None
        if isinstance(self.predicted_impact, PlanDtoPredictedImpactType0):
            predicted_impact = self.predicted_impact.to_dict()
        else:
            predicted_impact = self.predicted_impact

        risk = self.risk.to_dict()

        rollout = self.rollout.to_dict()

        stale = self.stale

        summary = self.summary

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
                "approval": approval,
                "base_revision": base_revision,
                "base_spec_digest": base_spec_digest,
                "changes": changes,
                "content_digest": content_digest,
                "created_at": created_at,
                "created_by": created_by,
                "deployment": deployment,
                "etag": etag,
                "evidence": evidence,
                "expires_at": expires_at,
                "id": id,
                "policy_version": policy_version,
                "predicted_impact": predicted_impact,
                "risk": risk,
                "rollout": rollout,
                "stale": stale,
                "summary": summary,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_actor_dto import PlanActorDto
        from ..models.plan_approval_dto import PlanApprovalDto
        from ..models.plan_change_dto import PlanChangeDto
        from ..models.plan_dto_predicted_impact_type_0 import PlanDtoPredictedImpactType0
        from ..models.plan_dto_rollout import PlanDtoRollout
        from ..models.plan_evidence_dto import PlanEvidenceDto
        from ..models.plan_risk_dto import PlanRiskDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        approval = PlanApprovalDto.from_dict(d.pop("approval"))

        base_revision = d.pop("base_revision")

        base_spec_digest = d.pop("base_spec_digest")

        changes = []
        _changes = d.pop("changes")
        for changes_item_data in _changes:
            changes_item = PlanChangeDto.from_dict(changes_item_data)

            changes.append(changes_item)

        content_digest = d.pop("content_digest")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        created_by = PlanActorDto.from_dict(d.pop("created_by"))

        deployment = d.pop("deployment")

        etag = d.pop("etag")

        evidence = []
        _evidence = d.pop("evidence")
        for evidence_item_data in _evidence:
            evidence_item = PlanEvidenceDto.from_dict(evidence_item_data)

            evidence.append(evidence_item)

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        id = d.pop("id")

        def _parse_policy_version(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        policy_version = _parse_policy_version(d.pop("policy_version"))

        def _parse_predicted_impact(data: object) -> None | PlanDtoPredictedImpactType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                predicted_impact_type_0 = PlanDtoPredictedImpactType0.from_dict(data)

                return predicted_impact_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanDtoPredictedImpactType0, data)

        predicted_impact = _parse_predicted_impact(d.pop("predicted_impact"))

        risk = PlanRiskDto.from_dict(d.pop("risk"))

        rollout = PlanDtoRollout.from_dict(d.pop("rollout"))

        stale = d.pop("stale")

        summary = d.pop("summary")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        plan_dto = cls(
            approval=approval,
            base_revision=base_revision,
            base_spec_digest=base_spec_digest,
            changes=changes,
            content_digest=content_digest,
            created_at=created_at,
            created_by=created_by,
            deployment=deployment,
            etag=etag,
            evidence=evidence,
            expires_at=expires_at,
            id=id,
            policy_version=policy_version,
            predicted_impact=predicted_impact,
            risk=risk,
            rollout=rollout,
            stale=stale,
            summary=summary,
            warnings=warnings,
        )

        plan_dto.additional_properties = d
        return plan_dto

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
