from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SystemWorkerDto")


@_attrs_define
class SystemWorkerDto:
    """
    Attributes:
        id (str): One run of the process
        is_alive (bool): Whether it was heard of lately; one that was not is forgotten after minutes
        seen_at (datetime.datetime): Its last heartbeat; there is one every 5 seconds
        started_at (datetime.datetime):
        version (str):  Example: 0.1.0.
    """

    id: str
    is_alive: bool
    seen_at: datetime.datetime
    started_at: datetime.datetime
    version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        is_alive = self.is_alive

        seen_at = self.seen_at.isoformat()

        started_at = self.started_at.isoformat()

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "is_alive": is_alive,
                "seen_at": seen_at,
                "started_at": started_at,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        is_alive = d.pop("is_alive")

        seen_at = datetime.datetime.fromisoformat(d.pop("seen_at"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        version = d.pop("version")

        system_worker_dto = cls(
            id=id,
            is_alive=is_alive,
            seen_at=seen_at,
            started_at=started_at,
            version=version,
        )

        system_worker_dto.additional_properties = d
        return system_worker_dto

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
