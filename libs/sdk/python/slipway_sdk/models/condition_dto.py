from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ConditionDto")


@_attrs_define
class ConditionDto:
    """
    Attributes:
        last_transition_at (datetime.datetime): When the status last changed
        message (str): One sentence for people
        reason (str): One word for programs Example: Serving.
        status (str): One of `True`, `False`.
        type_ (str): One of `Ready`, `Progressing`, `Degraded`.
    """

    last_transition_at: datetime.datetime
    message: str
    reason: str
    status: str
    type_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        last_transition_at = self.last_transition_at.isoformat()

        message = self.message

        reason = self.reason

        status = self.status

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "last_transition_at": last_transition_at,
                "message": message,
                "reason": reason,
                "status": status,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        last_transition_at = datetime.datetime.fromisoformat(d.pop("last_transition_at"))

        message = d.pop("message")

        reason = d.pop("reason")

        status = d.pop("status")

        type_ = d.pop("type")

        condition_dto = cls(
            last_transition_at=last_transition_at,
            message=message,
            reason=reason,
            status=status,
            type_=type_,
        )

        condition_dto.additional_properties = d
        return condition_dto

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
