from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.actor_dto import ActorDto
    from ..models.route_affinity_dto import RouteAffinityDto
    from ..models.route_hold_dto import RouteHoldDto
    from ..models.route_target_dto import RouteTargetDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="RouteDto")


@_attrs_define
class RouteDto:
    """
    Attributes:
        affinity (RouteAffinityDto):
        deployment (str): Name of the deployment Example: chat.
        etag (str): Also the ETag header
        generation (int): Rises by one at every change
        hold (None | RouteHoldDto): While an operation keeps new requests waiting, because one revision makes room for
            another; else null
        reason (None | str):
        targets (list[RouteTargetDto]):
        updated_at (datetime.datetime):
        updated_by (ActorDto):
        warnings (list[WarningDto] | Unset):
    """

    affinity: RouteAffinityDto
    deployment: str
    etag: str
    generation: int
    hold: None | RouteHoldDto
    reason: None | str
    targets: list[RouteTargetDto]
    updated_at: datetime.datetime
    updated_by: ActorDto
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.route_hold_dto import RouteHoldDto

        affinity = self.affinity.to_dict()

        deployment = self.deployment

        etag = self.etag

        generation = self.generation

        hold: dict[str, Any] | None
        if isinstance(self.hold, RouteHoldDto):
            hold = self.hold.to_dict()
        else:
            hold = self.hold

        reason: None | str
        reason = self.reason

        targets = []
        for targets_item_data in self.targets:
            targets_item = targets_item_data.to_dict()
            targets.append(targets_item)

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
                "affinity": affinity,
                "deployment": deployment,
                "etag": etag,
                "generation": generation,
                "hold": hold,
                "reason": reason,
                "targets": targets,
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
        from ..models.route_affinity_dto import RouteAffinityDto
        from ..models.route_hold_dto import RouteHoldDto
        from ..models.route_target_dto import RouteTargetDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        affinity = RouteAffinityDto.from_dict(d.pop("affinity"))

        deployment = d.pop("deployment")

        etag = d.pop("etag")

        generation = d.pop("generation")

        def _parse_hold(data: object) -> None | RouteHoldDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hold_type_0 = RouteHoldDto.from_dict(data)

                return hold_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RouteHoldDto, data)

        hold = _parse_hold(d.pop("hold"))

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

        targets = []
        _targets = d.pop("targets")
        for targets_item_data in _targets:
            targets_item = RouteTargetDto.from_dict(targets_item_data)

            targets.append(targets_item)

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        updated_by = ActorDto.from_dict(d.pop("updated_by"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        route_dto = cls(
            affinity=affinity,
            deployment=deployment,
            etag=etag,
            generation=generation,
            hold=hold,
            reason=reason,
            targets=targets,
            updated_at=updated_at,
            updated_by=updated_by,
            warnings=warnings,
        )

        route_dto.additional_properties = d
        return route_dto

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
