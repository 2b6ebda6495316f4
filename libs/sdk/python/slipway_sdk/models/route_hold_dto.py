from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RouteHoldDto")


@_attrs_define
class RouteHoldDto:
    """
    Attributes:
        estimated_seconds (float | None): How long it is expected to last; null where nothing was measured
        max_seconds (int): The longest that one request waits; then it answers 503
        since (datetime.datetime):
    """

    estimated_seconds: float | None
    max_seconds: int
    since: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        estimated_seconds: float | None
        estimated_seconds = self.estimated_seconds

        max_seconds = self.max_seconds

        since = self.since.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "estimated_seconds": estimated_seconds,
                "max_seconds": max_seconds,
                "since": since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_estimated_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        estimated_seconds = _parse_estimated_seconds(d.pop("estimated_seconds"))

        max_seconds = d.pop("max_seconds")

        since = datetime.datetime.fromisoformat(d.pop("since"))

        route_hold_dto = cls(
            estimated_seconds=estimated_seconds,
            max_seconds=max_seconds,
            since=since,
        )

        route_hold_dto.additional_properties = d
        return route_hold_dto

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
