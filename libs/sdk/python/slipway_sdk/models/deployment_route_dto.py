from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.deployment_route_affinity_dto import DeploymentRouteAffinityDto
    from ..models.deployment_route_target_dto import DeploymentRouteTargetDto


T = TypeVar("T", bound="DeploymentRouteDto")


@_attrs_define
class DeploymentRouteDto:
    """
    Attributes:
        affinity (DeploymentRouteAffinityDto):
        generation (int):
        targets (list[DeploymentRouteTargetDto]):
    """

    affinity: DeploymentRouteAffinityDto
    generation: int
    targets: list[DeploymentRouteTargetDto]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        affinity = self.affinity.to_dict()

        generation = self.generation

        targets = []
        for targets_item_data in self.targets:
            targets_item = targets_item_data.to_dict()
            targets.append(targets_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "affinity": affinity,
                "generation": generation,
                "targets": targets,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.deployment_route_affinity_dto import DeploymentRouteAffinityDto
        from ..models.deployment_route_target_dto import DeploymentRouteTargetDto

        d = dict(src_dict)
        affinity = DeploymentRouteAffinityDto.from_dict(d.pop("affinity"))

        generation = d.pop("generation")

        targets = []
        _targets = d.pop("targets")
        for targets_item_data in _targets:
            targets_item = DeploymentRouteTargetDto.from_dict(targets_item_data)

            targets.append(targets_item)

        deployment_route_dto = cls(
            affinity=affinity,
            generation=generation,
            targets=targets,
        )

        deployment_route_dto.additional_properties = d
        return deployment_route_dto

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
