from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.route_affinity_dto import RouteAffinityDto
    from ..models.route_target_dto import RouteTargetDto


T = TypeVar("T", bound="SetRouteDto")


@_attrs_define
class SetRouteDto:
    """
    Attributes:
        affinity (RouteAffinityDto | Unset):
        reason (str | Unset):
        revision (str | Unset): Gives this revision all traffic, keeping the affinity; or targets
        targets (list[RouteTargetDto] | Unset): The whole route; weights sum to 100; or revision
    """

    affinity: RouteAffinityDto | Unset = UNSET
    reason: str | Unset = UNSET
    revision: str | Unset = UNSET
    targets: list[RouteTargetDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        affinity: dict[str, Any] | Unset = UNSET
        if not isinstance(self.affinity, Unset):
            affinity = self.affinity.to_dict()

        reason = self.reason

        revision = self.revision

        targets: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.targets, Unset):
            targets = []
            for targets_item_data in self.targets:
                targets_item = targets_item_data.to_dict()
                targets.append(targets_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if affinity is not UNSET:
            field_dict["affinity"] = affinity
        if reason is not UNSET:
            field_dict["reason"] = reason
        if revision is not UNSET:
            field_dict["revision"] = revision
        if targets is not UNSET:
            field_dict["targets"] = targets

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.route_affinity_dto import RouteAffinityDto
        from ..models.route_target_dto import RouteTargetDto

        d = dict(src_dict)
        _affinity = d.pop("affinity", UNSET)
        affinity: RouteAffinityDto | Unset
        if isinstance(_affinity, Unset):
            affinity = UNSET
        else:
            affinity = RouteAffinityDto.from_dict(_affinity)

        reason = d.pop("reason", UNSET)

        revision = d.pop("revision", UNSET)

        _targets = d.pop("targets", UNSET)
        targets: list[RouteTargetDto] | Unset = UNSET
        if _targets is not UNSET:
            targets = []
            for targets_item_data in _targets:
                targets_item = RouteTargetDto.from_dict(targets_item_data)

                targets.append(targets_item)

        set_route_dto = cls(
            affinity=affinity,
            reason=reason,
            revision=revision,
            targets=targets,
        )

        set_route_dto.additional_properties = d
        return set_route_dto

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
