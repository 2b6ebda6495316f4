from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.passport_affinity_dto import PassportAffinityDto
    from ..models.passport_session_dto import PassportSessionDto
    from ..models.passport_stats_dto import PassportStatsDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="PassportDto")


@_attrs_define
class PassportDto:
    """
    Attributes:
        affinity (PassportAffinityDto):
        created_at (datetime.datetime):
        expires_at (datetime.datetime):
        id (str):  Example: cp_6f1ed002ab5595859014ebf0951522d9.
        last_seen_at (datetime.datetime):
        session (PassportSessionDto):
        state (str): One of `active`, `expired`, `revoked`.
        stats (PassportStatsDto):
        subject (None | str): As declared, or the token that was last seen with the session
        warnings (list[WarningDto] | Unset):
    """

    affinity: PassportAffinityDto
    created_at: datetime.datetime
    expires_at: datetime.datetime
    id: str
    last_seen_at: datetime.datetime
    session: PassportSessionDto
    state: str
    stats: PassportStatsDto
    subject: None | str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        affinity = self.affinity.to_dict()

        created_at = self.created_at.isoformat()

        expires_at = self.expires_at.isoformat()

        id = self.id

        last_seen_at = self.last_seen_at.isoformat()

        session = self.session.to_dict()

        state = self.state

        stats = self.stats.to_dict()

        subject: None | str
        subject = self.subject

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
                "created_at": created_at,
                "expires_at": expires_at,
                "id": id,
                "last_seen_at": last_seen_at,
                "session": session,
                "state": state,
                "stats": stats,
                "subject": subject,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.passport_affinity_dto import PassportAffinityDto
        from ..models.passport_session_dto import PassportSessionDto
        from ..models.passport_stats_dto import PassportStatsDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        affinity = PassportAffinityDto.from_dict(d.pop("affinity"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        id = d.pop("id")

        last_seen_at = datetime.datetime.fromisoformat(d.pop("last_seen_at"))

        session = PassportSessionDto.from_dict(d.pop("session"))

        state = d.pop("state")

        stats = PassportStatsDto.from_dict(d.pop("stats"))

        def _parse_subject(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        subject = _parse_subject(d.pop("subject"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        passport_dto = cls(
            affinity=affinity,
            created_at=created_at,
            expires_at=expires_at,
            id=id,
            last_seen_at=last_seen_at,
            session=session,
            state=state,
            stats=stats,
            subject=subject,
            warnings=warnings,
        )

        passport_dto.additional_properties = d
        return passport_dto

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
