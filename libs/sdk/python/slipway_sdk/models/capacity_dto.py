from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CapacityDto")


@_attrs_define
class CapacityDto:
    """
    Attributes:
        free (int | None): Null where the target does not tell, or has no limit
        gap_seconds (float | None): For how long requests are expected to wait, by the last measured starts; 0 where
            none waits, null where none was measured
        needed (int): Places or devices that the revision takes
        target (str):
    """

    free: int | None
    gap_seconds: float | None
    needed: int
    target: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        free: int | None
        free = self.free

        gap_seconds: float | None
        gap_seconds = self.gap_seconds

        needed = self.needed

        target = self.target

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "free": free,
                "gap_seconds": gap_seconds,
                "needed": needed,
                "target": target,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_free(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        free = _parse_free(d.pop("free"))

        def _parse_gap_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        gap_seconds = _parse_gap_seconds(d.pop("gap_seconds"))

        needed = d.pop("needed")

        target = d.pop("target")

        capacity_dto = cls(
            free=free,
            gap_seconds=gap_seconds,
            needed=needed,
            target=target,
        )

        capacity_dto.additional_properties = d
        return capacity_dto

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
