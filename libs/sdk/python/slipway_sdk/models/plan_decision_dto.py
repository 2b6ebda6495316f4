from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.plan_actor_dto import PlanActorDto


T = TypeVar("T", bound="PlanDecisionDto")


@_attrs_define
class PlanDecisionDto:
    """
    Attributes:
        at (datetime.datetime):
        by (PlanActorDto):
        comment (None | str):
        digest (str): Content digest the decision is bound to
    """

    at: datetime.datetime
    by: PlanActorDto
    comment: None | str
    digest: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        by = self.by.to_dict()

        comment: None | str
        comment = self.comment

        digest = self.digest

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "by": by,
                "comment": comment,
                "digest": digest,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_actor_dto import PlanActorDto

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        by = PlanActorDto.from_dict(d.pop("by"))

        def _parse_comment(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        comment = _parse_comment(d.pop("comment"))

        digest = d.pop("digest")

        plan_decision_dto = cls(
            at=at,
            by=by,
            comment=comment,
            digest=digest,
        )

        plan_decision_dto.additional_properties = d
        return plan_decision_dto

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
