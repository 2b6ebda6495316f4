from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.freeze_window_dto import FreezeWindowDto


T = TypeVar("T", bound="ReliabilityDto")


@_attrs_define
class ReliabilityDto:
    """
    Attributes:
        freeze_windows (list[FreezeWindowDto] | Unset): The autopilot proposes nothing within one. `[]` unless given.
        max_error_rate (float | Unset): A share of 0..1
        min_availability_percent (float | Unset):
    """

    freeze_windows: list[FreezeWindowDto] | Unset = UNSET
    max_error_rate: float | Unset = UNSET
    min_availability_percent: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        freeze_windows: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.freeze_windows, Unset):
            freeze_windows = []
            for freeze_windows_item_data in self.freeze_windows:
                freeze_windows_item = freeze_windows_item_data.to_dict()
                freeze_windows.append(freeze_windows_item)

        max_error_rate = self.max_error_rate

        min_availability_percent = self.min_availability_percent

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if freeze_windows is not UNSET:
            field_dict["freeze_windows"] = freeze_windows
        if max_error_rate is not UNSET:
            field_dict["max_error_rate"] = max_error_rate
        if min_availability_percent is not UNSET:
            field_dict["min_availability_percent"] = min_availability_percent

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.freeze_window_dto import FreezeWindowDto

        d = dict(src_dict)
        _freeze_windows = d.pop("freeze_windows", UNSET)
        freeze_windows: list[FreezeWindowDto] | Unset = UNSET
        if _freeze_windows is not UNSET:
            freeze_windows = []
            for freeze_windows_item_data in _freeze_windows:
                freeze_windows_item = FreezeWindowDto.from_dict(freeze_windows_item_data)

                freeze_windows.append(freeze_windows_item)

        max_error_rate = d.pop("max_error_rate", UNSET)

        min_availability_percent = d.pop("min_availability_percent", UNSET)

        reliability_dto = cls(
            freeze_windows=freeze_windows,
            max_error_rate=max_error_rate,
            min_availability_percent=min_availability_percent,
        )

        reliability_dto.additional_properties = d
        return reliability_dto

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
