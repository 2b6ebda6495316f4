from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BindingLimitsDto")


@_attrs_define
class BindingLimitsDto:
    """
    Attributes:
        max_concurrency (int | None | Unset): Requests at once, for each gateway
        max_rps (float | None | Unset): Requests a second, for each gateway
    """

    max_concurrency: int | None | Unset = UNSET
    max_rps: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        max_concurrency: int | None | Unset
        if isinstance(self.max_concurrency, Unset):
            max_concurrency = UNSET
        else:
            max_concurrency = self.max_concurrency

        max_rps: float | None | Unset
        if isinstance(self.max_rps, Unset):
            max_rps = UNSET
        else:
            max_rps = self.max_rps

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if max_concurrency is not UNSET:
            field_dict["max_concurrency"] = max_concurrency
        if max_rps is not UNSET:
            field_dict["max_rps"] = max_rps

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_max_concurrency(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_concurrency = _parse_max_concurrency(d.pop("max_concurrency", UNSET))

        def _parse_max_rps(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        max_rps = _parse_max_rps(d.pop("max_rps", UNSET))

        binding_limits_dto = cls(
            max_concurrency=max_concurrency,
            max_rps=max_rps,
        )

        binding_limits_dto.additional_properties = d
        return binding_limits_dto

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
