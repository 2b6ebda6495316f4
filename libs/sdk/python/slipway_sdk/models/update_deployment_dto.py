from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.analysis_patch_dto import AnalysisPatchDto
    from ..models.protection_patch_dto import ProtectionPatchDto
    from ..models.scaling_patch_dto import ScalingPatchDto
    from ..models.strategy_patch_dto import StrategyPatchDto
    from ..models.update_deployment_dto_labels_type_0 import UpdateDeploymentDtoLabelsType0


T = TypeVar("T", bound="UpdateDeploymentDto")


@_attrs_define
class UpdateDeploymentDto:
    """
    Attributes:
        default_analysis (AnalysisPatchDto | None | Unset): Gate of a rollout that names no `analysis`. Rollouts without
            a soak, such as a first revision, pass none.
        default_strategy (None | StrategyPatchDto | Unset): Strategy of a rollout that names none
        description (None | str | Unset):
        display_name (None | str | Unset):
        environment (None | str | Unset):  Example: production.
        labels (None | Unset | UpdateDeploymentDtoLabelsType0): Merged key by key, null removes one; 64 in the end
            Example: {'team': 'search', 'trial': None}.
        name (None | str | Unset): Cannot change: clients send it as model
        protection (None | ProtectionPatchDto | Unset): What the deployment is guarded against. To lower it takes the
            scope admin. A rollback is never refused.
        revision_history_limit (int | None | Unset): Revisions kept that no route, binding or rollback refers to
        scaling (None | ScalingPatchDto | Unset): Overrides the `scaling` of its revisions, field by field; what it
            leaves out, the revision says
    """

    default_analysis: AnalysisPatchDto | None | Unset = UNSET
    default_strategy: None | StrategyPatchDto | Unset = UNSET
    description: None | str | Unset = UNSET
    display_name: None | str | Unset = UNSET
    environment: None | str | Unset = UNSET
    labels: None | Unset | UpdateDeploymentDtoLabelsType0 = UNSET
    name: None | str | Unset = UNSET
    protection: None | ProtectionPatchDto | Unset = UNSET
    revision_history_limit: int | None | Unset = UNSET
    scaling: None | ScalingPatchDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.analysis_patch_dto import AnalysisPatchDto
        from ..models.protection_patch_dto import ProtectionPatchDto
        from ..models.scaling_patch_dto import ScalingPatchDto
        from ..models.strategy_patch_dto import StrategyPatchDto
        from ..models.update_deployment_dto_labels_type_0 import UpdateDeploymentDtoLabelsType0

        default_analysis: dict[str, Any] | None | Unset
        if isinstance(self.default_analysis, Unset):
            default_analysis = UNSET
        elif isinstance(self.default_analysis, AnalysisPatchDto):
            default_analysis = self.default_analysis.to_dict()
        else:
            default_analysis = self.default_analysis

        default_strategy: dict[str, Any] | None | Unset
        if isinstance(self.default_strategy, Unset):
            default_strategy = UNSET
        elif isinstance(self.default_strategy, StrategyPatchDto):
            default_strategy = self.default_strategy.to_dict()
        else:
            default_strategy = self.default_strategy

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        display_name: None | str | Unset
        if isinstance(self.display_name, Unset):
            display_name = UNSET
        else:
            display_name = self.display_name

        environment: None | str | Unset
        if isinstance(self.environment, Unset):
            environment = UNSET
        else:
            environment = self.environment

        labels: dict[str, Any] | None | Unset
        if isinstance(self.labels, Unset):
            labels = UNSET
        elif isinstance(self.labels, UpdateDeploymentDtoLabelsType0):
            labels = self.labels.to_dict()
        else:
            labels = self.labels

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        protection: dict[str, Any] | None | Unset
        if isinstance(self.protection, Unset):
            protection = UNSET
        elif isinstance(self.protection, ProtectionPatchDto):
            protection = self.protection.to_dict()
        else:
            protection = self.protection

        revision_history_limit: int | None | Unset
        if isinstance(self.revision_history_limit, Unset):
            revision_history_limit = UNSET
        else:
            revision_history_limit = self.revision_history_limit

        scaling: dict[str, Any] | None | Unset
        if isinstance(self.scaling, Unset):
            scaling = UNSET
        elif isinstance(self.scaling, ScalingPatchDto):
            scaling = self.scaling.to_dict()
        else:
            scaling = self.scaling

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if default_analysis is not UNSET:
            field_dict["default_analysis"] = default_analysis
        if default_strategy is not UNSET:
            field_dict["default_strategy"] = default_strategy
        if description is not UNSET:
            field_dict["description"] = description
        if display_name is not UNSET:
            field_dict["display_name"] = display_name
        if environment is not UNSET:
            field_dict["environment"] = environment
        if labels is not UNSET:
            field_dict["labels"] = labels
        if name is not UNSET:
            field_dict["name"] = name
        if protection is not UNSET:
            field_dict["protection"] = protection
        if revision_history_limit is not UNSET:
            field_dict["revision_history_limit"] = revision_history_limit
        if scaling is not UNSET:
            field_dict["scaling"] = scaling

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.analysis_patch_dto import AnalysisPatchDto
        from ..models.protection_patch_dto import ProtectionPatchDto
        from ..models.scaling_patch_dto import ScalingPatchDto
        from ..models.strategy_patch_dto import StrategyPatchDto
        from ..models.update_deployment_dto_labels_type_0 import UpdateDeploymentDtoLabelsType0

        d = dict(src_dict)

        def _parse_default_analysis(data: object) -> AnalysisPatchDto | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                default_analysis_type_0 = AnalysisPatchDto.from_dict(data)

                return default_analysis_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AnalysisPatchDto | None | Unset, data)

        default_analysis = _parse_default_analysis(d.pop("default_analysis", UNSET))

        def _parse_default_strategy(data: object) -> None | StrategyPatchDto | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                default_strategy_type_0 = StrategyPatchDto.from_dict(data)

                return default_strategy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StrategyPatchDto | Unset, data)

        default_strategy = _parse_default_strategy(d.pop("default_strategy", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_display_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        display_name = _parse_display_name(d.pop("display_name", UNSET))

        def _parse_environment(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        environment = _parse_environment(d.pop("environment", UNSET))

        def _parse_labels(data: object) -> None | Unset | UpdateDeploymentDtoLabelsType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                labels_type_0 = UpdateDeploymentDtoLabelsType0.from_dict(data)

                return labels_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateDeploymentDtoLabelsType0, data)

        labels = _parse_labels(d.pop("labels", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_protection(data: object) -> None | ProtectionPatchDto | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                protection_type_0 = ProtectionPatchDto.from_dict(data)

                return protection_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProtectionPatchDto | Unset, data)

        protection = _parse_protection(d.pop("protection", UNSET))

        def _parse_revision_history_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        revision_history_limit = _parse_revision_history_limit(d.pop("revision_history_limit", UNSET))

        def _parse_scaling(data: object) -> None | ScalingPatchDto | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                scaling_type_0 = ScalingPatchDto.from_dict(data)

                return scaling_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScalingPatchDto | Unset, data)

        scaling = _parse_scaling(d.pop("scaling", UNSET))

        update_deployment_dto = cls(
            default_analysis=default_analysis,
            default_strategy=default_strategy,
            description=description,
            display_name=display_name,
            environment=environment,
            labels=labels,
            name=name,
            protection=protection,
            revision_history_limit=revision_history_limit,
            scaling=scaling,
        )

        update_deployment_dto.additional_properties = d
        return update_deployment_dto

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
