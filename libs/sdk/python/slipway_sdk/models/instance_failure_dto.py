from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="InstanceFailureDto")


@_attrs_define
class InstanceFailureDto:
    """
    Attributes:
        cause (str): Why, from a closed list Example: gpu_memory.
        exit_code (int | None):
        message (str):  Example: it ended with code 1.
        remediation (str): What to do about it
        signal (None | str):  Example: SIGKILL.
        starts (int): Starts in a row that ended so
    """

    cause: str
    exit_code: int | None
    message: str
    remediation: str
    signal: None | str
    starts: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause = self.cause

        exit_code: int | None
        exit_code = self.exit_code

        message = self.message

        remediation = self.remediation

        signal: None | str
        signal = self.signal

        starts = self.starts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "exit_code": exit_code,
                "message": message,
                "remediation": remediation,
                "signal": signal,
                "starts": starts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        cause = d.pop("cause")

        def _parse_exit_code(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        exit_code = _parse_exit_code(d.pop("exit_code"))

        message = d.pop("message")

        remediation = d.pop("remediation")

        def _parse_signal(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        signal = _parse_signal(d.pop("signal"))

        starts = d.pop("starts")

        instance_failure_dto = cls(
            cause=cause,
            exit_code=exit_code,
            message=message,
            remediation=remediation,
            signal=signal,
            starts=starts,
        )

        instance_failure_dto.additional_properties = d
        return instance_failure_dto

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
