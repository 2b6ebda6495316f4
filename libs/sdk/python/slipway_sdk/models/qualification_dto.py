from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.qualification_check_dto import QualificationCheckDto


T = TypeVar("T", bound="QualificationDto")


@_attrs_define
class QualificationDto:
    """
    Attributes:
        checked_at (datetime.datetime | None):
        checks (list[QualificationCheckDto]):
        drifted_since (datetime.datetime | None): Since when an adopted server that has another model now is not called
            any more; else null
    """

    checked_at: datetime.datetime | None
    checks: list[QualificationCheckDto]
    drifted_since: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        checked_at: None | str
        if isinstance(self.checked_at, datetime.datetime):
            checked_at = self.checked_at.isoformat()
        else:
            checked_at = self.checked_at

        checks = []
        for checks_item_data in self.checks:
            checks_item = checks_item_data.to_dict()
            checks.append(checks_item)

        drifted_since: None | str
        if isinstance(self.drifted_since, datetime.datetime):
            drifted_since = self.drifted_since.isoformat()
        else:
            drifted_since = self.drifted_since

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "checked_at": checked_at,
                "checks": checks,
                "drifted_since": drifted_since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.qualification_check_dto import QualificationCheckDto

        d = dict(src_dict)

        def _parse_checked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                checked_at_type_0 = datetime.datetime.fromisoformat(data)

                return checked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        checked_at = _parse_checked_at(d.pop("checked_at"))

        checks = []
        _checks = d.pop("checks")
        for checks_item_data in _checks:
            checks_item = QualificationCheckDto.from_dict(checks_item_data)

            checks.append(checks_item)

        def _parse_drifted_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                drifted_since_type_0 = datetime.datetime.fromisoformat(data)

                return drifted_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        drifted_since = _parse_drifted_since(d.pop("drifted_since"))

        qualification_dto = cls(
            checked_at=checked_at,
            checks=checks,
            drifted_since=drifted_since,
        )

        qualification_dto.additional_properties = d
        return qualification_dto

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
