from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="QualificationCheckDto")


@_attrs_define
class QualificationCheckDto:
    """
    Attributes:
        duration_ms (float | None):
        message (str): In words; quotes nothing that the target said
        name (str):  Example: chat_completion.
        passed (bool):
        result (str): `not_applicable`: it can tell nothing about this engine, and `message` says why; it counts neither
            way. One of `passed`, `failed`, `not_applicable`.
    """

    duration_ms: float | None
    message: str
    name: str
    passed: bool
    result: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        duration_ms: float | None
        duration_ms = self.duration_ms

        message = self.message

        name = self.name

        passed = self.passed

        result = self.result

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "duration_ms": duration_ms,
                "message": message,
                "name": name,
                "passed": passed,
                "result": result,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_duration_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        duration_ms = _parse_duration_ms(d.pop("duration_ms"))

        message = d.pop("message")

        name = d.pop("name")

        passed = d.pop("passed")

        result = d.pop("result")

        qualification_check_dto = cls(
            duration_ms=duration_ms,
            message=message,
            name=name,
            passed=passed,
            result=result,
        )

        qualification_check_dto.additional_properties = d
        return qualification_check_dto

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
