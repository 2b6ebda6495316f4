from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.actor_dto import ActorDto
    from ..models.analysis_dto import AnalysisDto
    from ..models.condition_dto import ConditionDto
    from ..models.deployment_dto_labels import DeploymentDtoLabels
    from ..models.deployment_route_dto import DeploymentRouteDto
    from ..models.effective_scaling_dto import EffectiveScalingDto
    from ..models.protection_dto import ProtectionDto
    from ..models.replicas_dto import ReplicasDto
    from ..models.scaling_override_dto import ScalingOverrideDto
    from ..models.strategy_dto import StrategyDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="DeploymentDto")


@_attrs_define
class DeploymentDto:
    """
    Attributes:
        active_revision (None | str): Name of the revision that last held 100 % of the traffic Example: chat-00002.
        candidate_revision (None | str): Name of the revision a rollout has built or is building
        conditions (list[ConditionDto]):
        created_at (datetime.datetime):
        created_by (ActorDto):
        current_operation_id (None | str):
        default_analysis (AnalysisDto | None):
        default_strategy (None | StrategyDto):
        description (None | str):
        display_name (None | str):
        effective_scaling (EffectiveScalingDto | None): What holds for its active revision: that one’s `scaling` under
            the deployment’s
        environment (None | str):
        etag (str): Also the ETag header; changes with what people and operations change, not with health
        id (str):  Example: dep_0190f5c27bd87cc0a6b7d2f5e1a3c4d5.
        labels (DeploymentDtoLabels):
        name (str):  Example: chat.
        previous_revision (None | str): Name of the revision a rollback goes to by default
        protection (ProtectionDto):
        replicas (ReplicasDto):
        revision_history_limit (int):
        route (DeploymentRouteDto | None):
        scaling (None | ScalingOverrideDto): What it overrides of its revisions
        state (str): One of `creating`, `active`, `progressing`, `paused`, `degraded`, `failed`, `deleting`.
        updated_at (datetime.datetime):
        updated_by (ActorDto):
        warnings (list[WarningDto] | Unset):
    """

    active_revision: None | str
    candidate_revision: None | str
    conditions: list[ConditionDto]
    created_at: datetime.datetime
    created_by: ActorDto
    current_operation_id: None | str
    default_analysis: AnalysisDto | None
    default_strategy: None | StrategyDto
    description: None | str
    display_name: None | str
    effective_scaling: EffectiveScalingDto | None
    environment: None | str
    etag: str
    id: str
    labels: DeploymentDtoLabels
    name: str
    previous_revision: None | str
    protection: ProtectionDto
    replicas: ReplicasDto
    revision_history_limit: int
    route: DeploymentRouteDto | None
    scaling: None | ScalingOverrideDto
    state: str
    updated_at: datetime.datetime
    updated_by: ActorDto
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.analysis_dto import AnalysisDto
        from ..models.deployment_route_dto import DeploymentRouteDto
        from ..models.effective_scaling_dto import EffectiveScalingDto
        from ..models.scaling_override_dto import ScalingOverrideDto
        from ..models.strategy_dto import StrategyDto

        active_revision: None | str
        active_revision = self.active_revision

        candidate_revision: None | str
        candidate_revision = self.candidate_revision

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        created_at = self.created_at.isoformat()

        created_by = self.created_by.to_dict()

        current_operation_id: None | str
        current_operation_id = self.current_operation_id

        default_analysis: dict[str, Any] | None
        if isinstance(self.default_analysis, AnalysisDto):
            default_analysis = self.default_analysis.to_dict()
        else:
            default_analysis = self.default_analysis

        default_strategy: dict[str, Any] | None
        if isinstance(self.default_strategy, StrategyDto):
            default_strategy = self.default_strategy.to_dict()
        else:
            default_strategy = self.default_strategy

        description: None | str
        description = self.description

        display_name: None | str
        display_name = self.display_name

        effective_scaling: dict[str, Any] | None
        if isinstance(self.effective_scaling, EffectiveScalingDto):
            effective_scaling = self.effective_scaling.to_dict()
        else:
            effective_scaling = self.effective_scaling

        environment: None | str
        environment = self.environment

        etag = self.etag

        id = self.id

        labels = self.labels.to_dict()

        name = self.name

        previous_revision: None | str
        previous_revision = self.previous_revision

        protection = self.protection.to_dict()

        replicas = self.replicas.to_dict()

        revision_history_limit = self.revision_history_limit

        route: dict[str, Any] | None
        if isinstance(self.route, DeploymentRouteDto):
            route = self.route.to_dict()
        else:
            route = self.route

        scaling: dict[str, Any] | None
        if isinstance(self.scaling, ScalingOverrideDto):
            scaling = self.scaling.to_dict()
        else:
            scaling = self.scaling

        state = self.state

        updated_at = self.updated_at.isoformat()

        updated_by = self.updated_by.to_dict()

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
                "active_revision": active_revision,
                "candidate_revision": candidate_revision,
                "conditions": conditions,
                "created_at": created_at,
                "created_by": created_by,
                "current_operation_id": current_operation_id,
                "default_analysis": default_analysis,
                "default_strategy": default_strategy,
                "description": description,
                "display_name": display_name,
                "effective_scaling": effective_scaling,
                "environment": environment,
                "etag": etag,
                "id": id,
                "labels": labels,
                "name": name,
                "previous_revision": previous_revision,
                "protection": protection,
                "replicas": replicas,
                "revision_history_limit": revision_history_limit,
                "route": route,
                "scaling": scaling,
                "state": state,
                "updated_at": updated_at,
                "updated_by": updated_by,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.actor_dto import ActorDto
        from ..models.analysis_dto import AnalysisDto
        from ..models.condition_dto import ConditionDto
        from ..models.deployment_dto_labels import DeploymentDtoLabels
        from ..models.deployment_route_dto import DeploymentRouteDto
        from ..models.effective_scaling_dto import EffectiveScalingDto
        from ..models.protection_dto import ProtectionDto
        from ..models.replicas_dto import ReplicasDto
        from ..models.scaling_override_dto import ScalingOverrideDto
        from ..models.strategy_dto import StrategyDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)

        def _parse_active_revision(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        active_revision = _parse_active_revision(d.pop("active_revision"))

        def _parse_candidate_revision(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        candidate_revision = _parse_candidate_revision(d.pop("candidate_revision"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = ConditionDto.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        created_by = ActorDto.from_dict(d.pop("created_by"))

        def _parse_current_operation_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        current_operation_id = _parse_current_operation_id(d.pop("current_operation_id"))

        def _parse_default_analysis(data: object) -> AnalysisDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                default_analysis_type_0 = AnalysisDto.from_dict(data)

                return default_analysis_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AnalysisDto | None, data)

        default_analysis = _parse_default_analysis(d.pop("default_analysis"))

        def _parse_default_strategy(data: object) -> None | StrategyDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                default_strategy_type_0 = StrategyDto.from_dict(data)

                return default_strategy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StrategyDto, data)

        default_strategy = _parse_default_strategy(d.pop("default_strategy"))

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        def _parse_display_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        display_name = _parse_display_name(d.pop("display_name"))

        def _parse_effective_scaling(data: object) -> EffectiveScalingDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                effective_scaling_type_0 = EffectiveScalingDto.from_dict(data)

                return effective_scaling_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EffectiveScalingDto | None, data)

        effective_scaling = _parse_effective_scaling(d.pop("effective_scaling"))

        def _parse_environment(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        environment = _parse_environment(d.pop("environment"))

        etag = d.pop("etag")

        id = d.pop("id")

        labels = DeploymentDtoLabels.from_dict(d.pop("labels"))

        name = d.pop("name")

        def _parse_previous_revision(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        previous_revision = _parse_previous_revision(d.pop("previous_revision"))

        protection = ProtectionDto.from_dict(d.pop("protection"))

        replicas = ReplicasDto.from_dict(d.pop("replicas"))

        revision_history_limit = d.pop("revision_history_limit")

        def _parse_route(data: object) -> DeploymentRouteDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                route_type_0 = DeploymentRouteDto.from_dict(data)

                return route_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeploymentRouteDto | None, data)

        route = _parse_route(d.pop("route"))

        def _parse_scaling(data: object) -> None | ScalingOverrideDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                scaling_type_0 = ScalingOverrideDto.from_dict(data)

                return scaling_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScalingOverrideDto, data)

        scaling = _parse_scaling(d.pop("scaling"))

        state = d.pop("state")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        updated_by = ActorDto.from_dict(d.pop("updated_by"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        deployment_dto = cls(
            active_revision=active_revision,
            candidate_revision=candidate_revision,
            conditions=conditions,
            created_at=created_at,
            created_by=created_by,
            current_operation_id=current_operation_id,
            default_analysis=default_analysis,
            default_strategy=default_strategy,
            description=description,
            display_name=display_name,
            effective_scaling=effective_scaling,
            environment=environment,
            etag=etag,
            id=id,
            labels=labels,
            name=name,
            previous_revision=previous_revision,
            protection=protection,
            replicas=replicas,
            revision_history_limit=revision_history_limit,
            route=route,
            scaling=scaling,
            state=state,
            updated_at=updated_at,
            updated_by=updated_by,
            warnings=warnings,
        )

        deployment_dto.additional_properties = d
        return deployment_dto

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
