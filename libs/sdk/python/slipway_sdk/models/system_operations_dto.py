from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SystemOperationsDto")


@_attrs_define
class SystemOperationsDto:
    """
    Attributes:
        asleep (int): That go on by themselves later
        due (int): That a worker may take
        oldest_due_seconds (float | None): How long the oldest of them has waited: more than seconds means that workers
            are missing
        running (int): That a worker holds
    """

    asleep: int
    due: int
    oldest_due_seconds: float | None
    running: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        asleep = self.asleep

        due = self.due

        oldest_due_seconds: float | None
        oldest_due_seconds = self.oldest_due_seconds

        running = self.running

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "asleep": asleep,
                "due": due,
                "oldest_due_seconds": oldest_due_seconds,
                "running": running,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        asleep = d.pop("asleep")

        due = d.pop("due")

        def _parse_oldest_due_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        oldest_due_seconds = _parse_oldest_due_seconds(d.pop("oldest_due_seconds"))

        running = d.pop("running")

        system_operations_dto = cls(
            asleep=asleep,
            due=due,
            oldest_due_seconds=oldest_due_seconds,
            running=running,
        )

        system_operations_dto.additional_properties = d
        return system_operations_dto

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
