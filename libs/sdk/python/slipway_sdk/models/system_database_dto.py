from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SystemDatabaseDto")


@_attrs_define
class SystemDatabaseDto:
    """
    Attributes:
        latency_ms (float): How long the questions behind this answer took
        started_at (datetime.datetime):
        version (str): Of Postgres Example: 18.4.
    """

    latency_ms: float
    started_at: datetime.datetime
    version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        latency_ms = self.latency_ms

        started_at = self.started_at.isoformat()

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "latency_ms": latency_ms,
                "started_at": started_at,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        latency_ms = d.pop("latency_ms")

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        version = d.pop("version")

        system_database_dto = cls(
            latency_ms=latency_ms,
            started_at=started_at,
            version=version,
        )

        system_database_dto.additional_properties = d
        return system_database_dto

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
