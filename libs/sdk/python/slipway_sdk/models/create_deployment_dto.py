from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.analysis_dto import AnalysisDto
    from ..models.create_deployment_dto_labels import CreateDeploymentDtoLabels
    from ..models.protection_dto import ProtectionDto
    from ..models.scaling_override_dto import ScalingOverrideDto
    from ..models.strategy_dto import StrategyDto


T = TypeVar("T", bound="CreateDeploymentDto")


@_attrs_define
class CreateDeploymentDto:
    """
    Attributes:
        name (str): What clients send as model; unique among the tenant's deployments Example: chat.
        default_analysis (AnalysisDto | Unset):
        default_strategy (StrategyDto | Unset):
        description (str | Unset):
        display_name (str | Unset):
        environment (str | Unset):  Example: production.
        labels (CreateDeploymentDtoLabels | Unset): `{}` unless given. Example: {'team': 'search'}.
        protection (ProtectionDto | Unset):
        revision_history_limit (int | Unset): Revisions kept that no route, binding or rollback refers to. `10` unless
            given.
        scaling (ScalingOverrideDto | Unset):
    """

    name: str
    default_analysis: AnalysisDto | Unset = UNSET
    default_strategy: StrategyDto | Unset = UNSET
    description: str | Unset = UNSET
    display_name: str | Unset = UNSET
    environment: str | Unset = UNSET
    labels: CreateDeploymentDtoLabels | Unset = UNSET
    protection: ProtectionDto | Unset = UNSET
    revision_history_limit: int | Unset = UNSET
    scaling: ScalingOverrideDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        default_analysis: dict[str, Any] | Unset = UNSET
        if not isinstance(self.default_analysis, Unset):
            default_analysis = self.default_analysis.to_dict()

        default_strategy: dict[str, Any] | Unset = UNSET
        if not isinstance(self.default_strategy, Unset):
            default_strategy = self.default_strategy.to_dict()

        description = self.description

        display_name = self.display_name

        environment = self.environment

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        protection: dict[str, Any] | Unset = UNSET
        if not isinstance(self.protection, Unset):
            protection = self.protection.to_dict()

        revision_history_limit = self.revision_history_limit

        scaling: dict[str, Any] | Unset = UNSET
        if not isinstance(self.scaling, Unset):
            scaling = self.scaling.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
            }
        )
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
        if protection is not UNSET:
            field_dict["protection"] = protection
        if revision_history_limit is not UNSET:
            field_dict["revision_history_limit"] = revision_history_limit
        if scaling is not UNSET:
            field_dict["scaling"] = scaling

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.analysis_dto import AnalysisDto
        from ..models.create_deployment_dto_labels import CreateDeploymentDtoLabels
        from ..models.protection_dto import ProtectionDto
        from ..models.scaling_override_dto import ScalingOverrideDto
        from ..models.strategy_dto import StrategyDto

        d = dict(src_dict)
        name = d.pop("name")

        _default_analysis = d.pop("default_analysis", UNSET)
        default_analysis: AnalysisDto | Unset
        if isinstance(_default_analysis, Unset):
            default_analysis = UNSET
        else:
            default_analysis = AnalysisDto.from_dict(_default_analysis)

        _default_strategy = d.pop("default_strategy", UNSET)
        default_strategy: StrategyDto | Unset
        if isinstance(_default_strategy, Unset):
            default_strategy = UNSET
        else:
            default_strategy = StrategyDto.from_dict(_default_strategy)

        description = d.pop("description", UNSET)

        display_name = d.pop("display_name", UNSET)

        environment = d.pop("environment", UNSET)

        _labels = d.pop("labels", UNSET)
        labels: CreateDeploymentDtoLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = CreateDeploymentDtoLabels.from_dict(_labels)

        _protection = d.pop("protection", UNSET)
        protection: ProtectionDto | Unset
        if isinstance(_protection, Unset):
            protection = UNSET
        else:
            protection = ProtectionDto.from_dict(_protection)

        revision_history_limit = d.pop("revision_history_limit", UNSET)

        _scaling = d.pop("scaling", UNSET)
        scaling: ScalingOverrideDto | Unset
        if isinstance(_scaling, Unset):
            scaling = UNSET
        else:
            scaling = ScalingOverrideDto.from_dict(_scaling)

        create_deployment_dto = cls(
            name=name,
            default_analysis=default_analysis,
            default_strategy=default_strategy,
            description=description,
            display_name=display_name,
            environment=environment,
            labels=labels,
            protection=protection,
            revision_history_limit=revision_history_limit,
            scaling=scaling,
        )

        create_deployment_dto.additional_properties = d
        return create_deployment_dto

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
