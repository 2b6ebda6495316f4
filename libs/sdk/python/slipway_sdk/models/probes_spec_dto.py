from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ProbesSpecDto")


@_attrs_define
class ProbesSpecDto:
    """
    Attributes:
        failure_threshold (int | Unset):
        interval_seconds (int | Unset):
        path (str | Unset):
        timeout_seconds (int | Unset):
    """

    failure_threshold: int | Unset = UNSET
    interval_seconds: int | Unset = UNSET
    path: str | Unset = UNSET
    timeout_seconds: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        failure_threshold = self.failure_threshold

        interval_seconds = self.interval_seconds

        path = self.path

        timeout_seconds = self.timeout_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if failure_threshold is not UNSET:
            field_dict["failure_threshold"] = failure_threshold
        if interval_seconds is not UNSET:
            field_dict["interval_seconds"] = interval_seconds
        if path is not UNSET:
            field_dict["path"] = path
        if timeout_seconds is not UNSET:
            field_dict["timeout_seconds"] = timeout_seconds

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        failure_threshold = d.pop("failure_threshold", UNSET)

        interval_seconds = d.pop("interval_seconds", UNSET)

        path = d.pop("path", UNSET)

        timeout_seconds = d.pop("timeout_seconds", UNSET)

        probes_spec_dto = cls(
            failure_threshold=failure_threshold,
            interval_seconds=interval_seconds,
            path=path,
            timeout_seconds=timeout_seconds,
        )

        probes_spec_dto.additional_properties = d
        return probes_spec_dto

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
