from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.actor_dto import ActorDto
    from ..models.evidence_dto import EvidenceDto
    from ..models.experiment_budget_dto import ExperimentBudgetDto
    from ..models.objective_dto import ObjectiveDto
    from ..models.promotion_dto import PromotionDto
    from ..models.reliability_dto import ReliabilityDto
    from ..models.slo_dto import SloDto
    from ..models.warning_dto import WarningDto
    from ..models.workload_dto import WorkloadDto


T = TypeVar("T", bound="PolicyDto")


@_attrs_define
class PolicyDto:
    """
    Attributes:
        deployment (str): Name of the deployment Example: chat.
        etag (str): Also the ETag header
        updated_at (datetime.datetime):
        updated_by (ActorDto):
        version (int): Rises by one at every change; every version is kept, plans cite one
        evidence (EvidenceDto | Unset):
        experiment_budget (ExperimentBudgetDto | Unset):
        mode (str | Unset): `observe` only tells what it sees in events; `recommend` also proposes plans. Nothing ever
            acts by itself. One of `off`, `observe`, `recommend`. `"recommend"` unless given.
        objective (ObjectiveDto | Unset):
        promotion (PromotionDto | Unset):
        reliability (ReliabilityDto | Unset):
        slos (list[SloDto] | Unset): What must hold; each metric and stat once. `[]` unless given.
        warnings (list[WarningDto] | Unset):
        workload (WorkloadDto | Unset):
    """

    deployment: str
    etag: str
    updated_at: datetime.datetime
    updated_by: ActorDto
    version: int
    evidence: EvidenceDto | Unset = UNSET
    experiment_budget: ExperimentBudgetDto | Unset = UNSET
    mode: str | Unset = UNSET
    objective: ObjectiveDto | Unset = UNSET
    promotion: PromotionDto | Unset = UNSET
    reliability: ReliabilityDto | Unset = UNSET
    slos: list[SloDto] | Unset = UNSET
    warnings: list[WarningDto] | Unset = UNSET
    workload: WorkloadDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        deployment = self.deployment

        etag = self.etag

        updated_at = self.updated_at.isoformat()

        updated_by = self.updated_by.to_dict()

        version = self.version

        evidence: dict[str, Any] | Unset = UNSET
        if not isinstance(self.evidence, Unset):
            evidence = self.evidence.to_dict()

        experiment_budget: dict[str, Any] | Unset = UNSET
        if not isinstance(self.experiment_budget, Unset):
            experiment_budget = self.experiment_budget.to_dict()

        mode = self.mode

        objective: dict[str, Any] | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.to_dict()

        promotion: dict[str, Any] | Unset = UNSET
        if not isinstance(self.promotion, Unset):
            promotion = self.promotion.to_dict()

        reliability: dict[str, Any] | Unset = UNSET
        if not isinstance(self.reliability, Unset):
            reliability = self.reliability.to_dict()

        slos: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.slos, Unset):
            slos = []
            for slos_item_data in self.slos:
                slos_item = slos_item_data.to_dict()
                slos.append(slos_item)

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        workload: dict[str, Any] | Unset = UNSET
        if not isinstance(self.workload, Unset):
            workload = self.workload.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "deployment": deployment,
                "etag": etag,
                "updated_at": updated_at,
                "updated_by": updated_by,
                "version": version,
            }
        )
        if evidence is not UNSET:
            field_dict["evidence"] = evidence
        if experiment_budget is not UNSET:
            field_dict["experiment_budget"] = experiment_budget
        if mode is not UNSET:
            field_dict["mode"] = mode
        if objective is not UNSET:
            field_dict["objective"] = objective
        if promotion is not UNSET:
            field_dict["promotion"] = promotion
        if reliability is not UNSET:
            field_dict["reliability"] = reliability
        if slos is not UNSET:
            field_dict["slos"] = slos
        if warnings is not UNSET:
            field_dict["warnings"] = warnings
        if workload is not UNSET:
            field_dict["workload"] = workload

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.actor_dto import ActorDto
        from ..models.evidence_dto import EvidenceDto
        from ..models.experiment_budget_dto import ExperimentBudgetDto
        from ..models.objective_dto import ObjectiveDto
        from ..models.promotion_dto import PromotionDto
        from ..models.reliability_dto import ReliabilityDto
        from ..models.slo_dto import SloDto
        from ..models.warning_dto import WarningDto
        from ..models.workload_dto import WorkloadDto

        d = dict(src_dict)
        deployment = d.pop("deployment")

        etag = d.pop("etag")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        updated_by = ActorDto.from_dict(d.pop("updated_by"))

        version = d.pop("version")

        _evidence = d.pop("evidence", UNSET)
        evidence: EvidenceDto | Unset
        if isinstance(_evidence, Unset):
            evidence = UNSET
        else:
            evidence = EvidenceDto.from_dict(_evidence)

        _experiment_budget = d.pop("experiment_budget", UNSET)
        experiment_budget: ExperimentBudgetDto | Unset
        if isinstance(_experiment_budget, Unset):
            experiment_budget = UNSET
        else:
            experiment_budget = ExperimentBudgetDto.from_dict(_experiment_budget)

        mode = d.pop("mode", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: ObjectiveDto | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = ObjectiveDto.from_dict(_objective)

        _promotion = d.pop("promotion", UNSET)
        promotion: PromotionDto | Unset
        if isinstance(_promotion, Unset):
            promotion = UNSET
        else:
            promotion = PromotionDto.from_dict(_promotion)

        _reliability = d.pop("reliability", UNSET)
        reliability: ReliabilityDto | Unset
        if isinstance(_reliability, Unset):
            reliability = UNSET
        else:
            reliability = ReliabilityDto.from_dict(_reliability)

        _slos = d.pop("slos", UNSET)
        slos: list[SloDto] | Unset = UNSET
        if _slos is not UNSET:
            slos = []
            for slos_item_data in _slos:
                slos_item = SloDto.from_dict(slos_item_data)

                slos.append(slos_item)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        _workload = d.pop("workload", UNSET)
        workload: WorkloadDto | Unset
        if isinstance(_workload, Unset):
            workload = UNSET
        else:
            workload = WorkloadDto.from_dict(_workload)

        policy_dto = cls(
            deployment=deployment,
            etag=etag,
            updated_at=updated_at,
            updated_by=updated_by,
            version=version,
            evidence=evidence,
            experiment_budget=experiment_budget,
            mode=mode,
            objective=objective,
            promotion=promotion,
            reliability=reliability,
            slos=slos,
            warnings=warnings,
            workload=workload,
        )

        policy_dto.additional_properties = d
        return policy_dto

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
