from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SystemOutboxDto")


@_attrs_define
class SystemOutboxDto:
    """
    Attributes:
        oldest_seconds (float | None): How long the oldest of them has waited
        waiting (int): Wake-ups that are due and that the queue has not got yet
    """

    oldest_seconds: float | None
    waiting: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        oldest_seconds: float | None
        oldest_seconds = self.oldest_seconds

        waiting = self.waiting

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "oldest_seconds": oldest_seconds,
                "waiting": waiting,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_oldest_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        oldest_seconds = _parse_oldest_seconds(d.pop("oldest_seconds"))

        waiting = d.pop("waiting")

        system_outbox_dto = cls(
            oldest_seconds=oldest_seconds,
            waiting=waiting,
        )

        system_outbox_dto.additional_properties = d
        return system_outbox_dto

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
