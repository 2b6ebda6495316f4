from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SystemGatewayDto")


@_attrs_define
class SystemGatewayDto:
    """
    Attributes:
        id (str): One run of the process
        is_alive (bool): Whether it was heard of lately: one that is not counts for nothing
        routes (int): Routes that it serves
        routes_behind (int): Routes whose present generation it does not serve yet
        seen_at (datetime.datetime): Its last heartbeat
        started_at (datetime.datetime):
        statistics_until (datetime.datetime | None): Until then its request statistics are stored
    """

    id: str
    is_alive: bool
    routes: int
    routes_behind: int
    seen_at: datetime.datetime
    started_at: datetime.datetime
    statistics_until: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        is_alive = self.is_alive

        routes = self.routes

        routes_behind = self.routes_behind

        seen_at = self.seen_at.isoformat()

        started_at = self.started_at.isoformat()

        statistics_until: None | str
        if isinstance(self.statistics_until, datetime.datetime):
            statistics_until = self.statistics_until.isoformat()
        else:
            statistics_until = self.statistics_until

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "is_alive": is_alive,
                "routes": routes,
                "routes_behind": routes_behind,
                "seen_at": seen_at,
                "started_at": started_at,
                "statistics_until": statistics_until,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        is_alive = d.pop("is_alive")

        routes = d.pop("routes")

        routes_behind = d.pop("routes_behind")

        seen_at = datetime.datetime.fromisoformat(d.pop("seen_at"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        def _parse_statistics_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                statistics_until_type_0 = datetime.datetime.fromisoformat(data)

                return statistics_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        statistics_until = _parse_statistics_until(d.pop("statistics_until"))

        system_gateway_dto = cls(
            id=id,
            is_alive=is_alive,
            routes=routes,
            routes_behind=routes_behind,
            seen_at=seen_at,
            started_at=started_at,
            statistics_until=statistics_until,
        )

        system_gateway_dto.additional_properties = d
        return system_gateway_dto

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
